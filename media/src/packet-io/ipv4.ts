/** Dotted quad to an unsigned 32-bit number ("127.0.0.1" is 0x7f000001); null for anything else. */
export function parseIpv4(text: string): number | null {
  let value = 0
  let octet = -1
  let dots = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x2e) {
      if (octet < 0 || ++dots > 3) return null
      value = value * 256 + octet
      octet = -1
    } else {
      if (c < 0x30 || c > 0x39) return null
      octet = octet < 0 ? c - 0x30 : octet * 10 + c - 0x30
      if (octet > 255) return null
    }
  }
  return dots === 3 && octet >= 0 ? value * 256 + octet : null
}

export function formatIpv4(ipv4: number): string {
  return `${ipv4 >>> 24}.${(ipv4 >>> 16) & 255}.${(ipv4 >>> 8) & 255}.${ipv4 & 255}`
}

/** The addresses whose first `prefixBits` bits (0 to 32) are those of `ipv4`. */
export interface Ipv4Network {
  readonly ipv4: number
  readonly prefixBits: number
}

export function isInIpv4Network(ipv4: number, { ipv4: network, prefixBits }: Ipv4Network): boolean {
  // A shift by 32 would be none.
  return prefixBits === 0 || (ipv4 ^ network) >>> (32 - prefixBits) === 0
}

export function isInIpv4Networks(ipv4: number, networks: readonly Ipv4Network[]): boolean {
  for (let i = 0; i < networks.length; i++) if (isInIpv4Network(ipv4, networks[i]!)) return true
  return false
}
