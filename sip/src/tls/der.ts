/** The subset of ASN.1 DER (ITU-T X.690) that certificates need. */

/** One element: tag, definite length, content. */
export function element(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const length = content.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Uint8Array.of(tag), encodeLength(length), ...content])
}

export function sequence(...content: readonly Uint8Array[]): Uint8Array {
  return element(0x30, ...content)
}

export function setOf(member: Uint8Array): Uint8Array {
  return element(0x31, member)
}

/** A context-specific tag around whole elements. */
export function explicit(number: number, ...content: readonly Uint8Array[]): Uint8Array {
  return element(0xa0 | number, ...content)
}

/** A context-specific tag in place of a primitive type's own. */
export function implicit(number: number, content: Uint8Array): Uint8Array {
  return element(0x80 | number, content)
}

/** A non-negative INTEGER from its big-endian bytes: as short as possible, never negative (X.690 section 8.3). */
export function integer(bigEndian: Uint8Array): Uint8Array {
  let start = 0
  while (start < bigEndian.length - 1 && bigEndian[start] === 0) start++
  const bytes = bigEndian.length === 0 ? Uint8Array.of(0) : bigEndian.subarray(start)
  return bytes[0]! >= 0x80 ? element(0x02, Uint8Array.of(0), bytes) : element(0x02, bytes)
}

export function boolean(value: boolean): Uint8Array {
  return element(0x01, Uint8Array.of(value ? 0xff : 0))
}

export function nullValue(): Uint8Array {
  return element(0x05)
}

export function octetString(content: Uint8Array): Uint8Array {
  return element(0x04, content)
}

/** `unused` bits at the end do not count. */
export function bitString(content: Uint8Array, unused = 0): Uint8Array {
  return element(0x03, Uint8Array.of(unused), content)
}

export function utf8String(text: string): Uint8Array {
  return element(0x0c, Buffer.from(text, 'utf8'))
}

/** From its dotted form; every arc below 2^31. */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first, second, ...rest] = dotted.split('.').map(Number)
  return element(0x06, Uint8Array.from([first! * 40 + second!, ...rest].flatMap(base128)))
}

/** Seconds precision, UTC; UTCTime up to 2049, GeneralizedTime after (RFC 5280 section 4.1.2.5). */
export function time(unixMs: number): Uint8Array {
  const digits = new Date(unixMs).toISOString().replace(/\.\d+|[-T:]/g, '')
  const utc = Number(digits.slice(0, 4)) < 2050
  return element(utc ? 0x17 : 0x18, Buffer.from(utc ? digits.slice(2) : digits, 'latin1'))
}

function encodeLength(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length)
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Uint8Array.of(0x80 | bytes.length, ...bytes)
}

function base128(arc: number): number[] {
  const bytes = [arc & 0x7f]
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f))
  return bytes
}
