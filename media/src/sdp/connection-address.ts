/** Target of a connection line (RFC 8866 section 5.7), as far as a unicast IPv4 sender is concerned. */
type Reachability =
  | { readonly kind: 'unicast'; readonly address: string }
  /** 0.0.0.0: nothing is to be sent (RFC 3264 section 8.4). */
  | { readonly kind: 'none' }
  /** IPv6, a host name, multicast, broadcast: sending there is impossible or not allowed. */
  | { readonly kind: 'unreachable'; readonly detail: string }

const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/

export function reachability(address: string | null): Reachability {
  if (address === null) return { kind: 'unreachable', detail: 'the media has no c= line' }
  if (address.includes(':')) return { kind: 'unreachable', detail: 'the media address is IPv6; only IPv4 is supported' }
  const match = IPV4.exec(address)
  if (match === null) return { kind: 'unreachable', detail: 'the media address is not an IPv4 address' }
  if (address === '0.0.0.0') return { kind: 'none' }
  const first = Number(match[1])
  if (first === 0 || first >= 224) return { kind: 'unreachable', detail: 'the media address is not a unicast address' }
  return { kind: 'unicast', address }
}
