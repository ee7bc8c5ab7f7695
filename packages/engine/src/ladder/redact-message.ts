/** Headers whose value proves knowledge of a password (RFC 3261 section 22, RFC 7616); their scheme stays. */
const CREDENTIALS =
  /^((?:Proxy-)?Authorization|(?:Proxy-)?Authentication-Info):[ \t]*(Digest\b|Basic\b|Bearer\b)?.*$/gim
/** SRTP keys (RFC 4568 section 6.1) and the obsolete key line of SDP (RFC 4566 section 5.12). */
const CRYPTO_LINE = /^a=crypto:.*$/gim
const INLINE_KEY = /inline:[^\s|;]+/gi
const KEY_LINE = /^k=.*$/gim
/** Keys of a key management protocol, such as MIKEY (RFC 4567 section 3.1.2). */
const KEY_MANAGEMENT = /^(a=key-mgmt:[^\s]+).*$/gim
/** Passwords in URIs (RFC 3261 section 19.1.1). */
const URI_PASSWORD = /\b(sips?:[^\s:@<>;]+):[^\s@<>]+@/gi

const REDACTED = '[redacted]'

/**
 * A SIP message without credentials and keys. `secrets`: further texts to remove, such as the token by which a trunk's calls
 * are admitted.
 */
export function redactMessage(text: string, secrets: readonly string[]): string {
  let redacted = text
    .replace(CREDENTIALS, (_line, name: string, scheme: string | undefined) =>
      scheme === undefined ? `${name}: ${REDACTED}` : `${name}: ${scheme} ${REDACTED}`,
    )
    .replace(CRYPTO_LINE, line => line.replace(INLINE_KEY, `inline:${REDACTED}`))
    .replace(KEY_MANAGEMENT, `$1 ${REDACTED}`)
    .replace(KEY_LINE, `k=${REDACTED}`)
    .replace(URI_PASSWORD, `$1:${REDACTED}@`)
  for (const secret of secrets) redacted = redacted.replaceAll(secret, REDACTED)
  // Postgres stores no NUL in a text.
  return redacted.replaceAll('\0', '\uFFFD')
}
