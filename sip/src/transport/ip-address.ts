const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39

/** The 4 or 16 bytes of an IP literal without brackets, or undefined when it is none (zone ids are refused). */
export function parseIpAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

/** `address` with an IPv4-mapped IPv6 address (as dual-stack sockets report them) written as IPv4. */
export function unmapAddress(address: string): string {
  const bytes = address.startsWith('::') ? parseIpv6(address) : undefined
  if (bytes === undefined || !isMapped(bytes)) return address
  return bytes.subarray(12).join('.')
}

/** Key under which connections of one peer are counted: the IPv4 address, or the /64 network of an IPv6 address. */
export function peerKey(address: string): string {
  const bytes = parseIpAddress(address)
  if (bytes === undefined || bytes.length === 4) return address
  if (isMapped(bytes)) return bytes.subarray(12).join('.')
  return `${Buffer.from(bytes.buffer, bytes.byteOffset, 8).toString('hex')}/64`
}

/** Key of the network that one customer of a provider usually has: the /48 of an IPv6 address, else that of `peerKey`. */
export function siteKey(address: string): string {
  const bytes = parseIpAddress(address)
  if (bytes === undefined || bytes.length === 4 || isMapped(bytes)) return peerKey(address)
  return `${Buffer.from(bytes.buffer, bytes.byteOffset, 6).toString('hex')}/48`
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 10).every(byte => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
}

/** Four decimal numbers up to 255 without leading zeros, read character by character: it is asked for several times a call. */
function parseIpv4(text: string): Uint8Array | undefined {
  const { length } = text
  if (length < 7 || length > 15) return undefined
  const bytes = new Uint8Array(4)
  let at = 0
  for (let i = 0; i < 4; i++) {
    if (i > 0 && text.charCodeAt(at++) !== DOT) return undefined
    const from = at
    let value = 0
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(++at))
      value = value * 10 + code - ZERO
    const digits = at - from
    if (digits < 1 || digits > 3 || value > 255 || (digits > 1 && text.charCodeAt(from) === ZERO)) return undefined
    bytes[i] = value
  }
  return at === length ? bytes : undefined
}

/** RFC 4291 section 2.2, all three forms. */
function parseIpv6(text: string): Uint8Array | undefined {
  if (text.length > 45) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0]!, halves.length === 1)
  const tail = halves.length === 2 ? parseGroups(halves[1]!, true) : []
  if (head === undefined || tail === undefined) return undefined
  const missing = 16 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined
  const bytes = new Uint8Array(16)
  bytes.set(head, 0)
  bytes.set(tail, 16 - tail.length)
  return bytes
}

/** Groups of 16 bits; where the address ends (`last`), an IPv4 literal may stand for the last two. */
function parseGroups(text: string, last: boolean): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [i, group] of groups.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
      continue
    }
    const ipv4 = last && i === groups.length - 1 ? parseIpv4(group) : undefined
    if (ipv4 === undefined) return undefined
    bytes.push(...ipv4)
  }
  return bytes
}
