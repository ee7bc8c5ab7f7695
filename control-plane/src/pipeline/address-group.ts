import { isIPv6 } from 'node:net'

/**
 * The group of addresses that count as one client: an IPv4 address (also when mapped into IPv6), or the /64 of an IPv6
 * address, since one subscriber usually has a whole /64.
 */
export function addressGroup(address: string): string {
  const plain = address.split('%', 1)[0]!.toLowerCase()
  if (!isIPv6(plain)) return plain
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)
  if (mapped !== null) return mapped[1]!
  const [before = '', after] = plain.split('::')
  const left = before === '' ? [] : before.split(':')
  const right = after === undefined || after === '' ? [] : after.split(':')
  const zeros = after === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
