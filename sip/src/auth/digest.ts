import { createHash } from 'node:crypto'

/** Algorithms of RFC 8760 that peers use, strongest first. The session variants are not supported. */
export const ALGORITHMS = ['SHA-256', 'MD5'] as const

export type DigestAlgorithm = (typeof ALGORITHMS)[number]

/** The algorithm of a challenge or of credentials; undefined: an unsupported one. Absent means MD5 (RFC 7616 3.3). */
export function algorithmNamed(name: string | null | undefined): DigestAlgorithm | undefined {
  const wanted = (name ?? 'MD5').toUpperCase()
  return ALGORITHMS.find(algorithm => algorithm === wanted)
}

/** Everything that goes into a response value (RFC 7616 section 3.4.1). */
interface DigestInput {
  readonly algorithm: DigestAlgorithm
  readonly username: string
  readonly realm: string
  readonly password: string
  readonly nonce: string
  readonly method: string
  /** The digest-uri as written. */
  readonly uri: string
  /** Undefined: without qop, as in RFC 2069 and with old peers. */
  readonly qop: { readonly nonceCount: string; readonly clientNonce: string } | undefined
}

/** Lower-case hexadecimal (RFC 2617 section 3.2.2.1, RFC 7616 section 3.4.1, RFC 8760 section 2). */
export function digestResponse(input: DigestInput): string {
  const hash = (text: string) =>
    createHash(input.algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text, 'utf8')
      .digest('hex')
  const a1 = hash(`${input.username}:${input.realm}:${input.password}`)
  const a2 = hash(`${input.method}:${input.uri}`)
  if (input.qop === undefined) return hash(`${a1}:${input.nonce}:${a2}`)
  return hash(`${a1}:${input.nonce}:${input.qop.nonceCount}:${input.qop.clientNonce}:auth:${a2}`)
}

/** The eight hexadecimal digits of a nonce count. */
export function nonceCountText(count: number): string {
  return count.toString(16).padStart(8, '0')
}
