import { createPublicKey, sign, verify } from 'node:crypto'
import { type Certificate, certificate } from '@parley/contract'
import { canonicalJson } from '@parley/kernel'
import type { Queries, Sealer } from '../protocol.ts'
import type { PublicSigningKey } from './protocol.ts'
import { currentSigningKey } from './signing-keys.ts'

/** Signs the content with the newest key. Throws `signing_key_missing`, `seal_broken`. */
export async function signCertificate(
  tx: Queries,
  sealer: Sealer,
  content: Certificate['content'],
): Promise<Certificate> {
  const { keyId, privateKey } = await currentSigningKey(tx, sealer)
  const signature = sign(null, Buffer.from(canonicalJson(content)), privateKey).toString('base64url')
  return { content, key_id: keyId, signature }
}

/** What came of checking a certificate; `reason` says what is wrong with it. */
type CheckedCertificate =
  | { readonly isValid: true; readonly certificate: Certificate }
  | { readonly isValid: false; readonly reason: string }

/**
 * Checks the text of a certificate with the public keys of the platform that issued it, without any connection. The text must be
 * as the API sends it, but for white space between its values.
 */
export function checkCertificate(text: string, keys: readonly PublicSigningKey[]): CheckedCertificate {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { isValid: false, reason: 'it is not JSON' }
  }
  // A member that is named twice, or an escaped letter, would be read differently by other programs.
  if (JSON.stringify(json) !== withoutWhiteSpace(text))
    return { isValid: false, reason: 'it is not written as the API writes JSON' }
  const parsed = certificate.safeParse(json)
  if (!parsed.success) return { isValid: false, reason: 'it does not have the form of a certificate' }
  const { content, key_id, signature } = parsed.data
  const key = keys.find(({ kid }) => kid === key_id)
  if (key === undefined) return { isValid: false, reason: `none of the given keys is the key ${key_id}` }
  const signed = Buffer.from(signature, 'base64url')
  // The last character of base64url has bits that decoding ignores.
  if (signed.toString('base64url') !== signature) return { isValid: false, reason: 'the signature is malformed' }
  const { kty, crv, x } = key
  const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
  if (!verify(null, Buffer.from(canonicalJson(content)), publicKey, signed))
    return { isValid: false, reason: 'the signature does not match the content' }
  return { isValid: true, certificate: parsed.data }
}

/** JSON text without the white space outside of strings. */
function withoutWhiteSpace(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1')
}
