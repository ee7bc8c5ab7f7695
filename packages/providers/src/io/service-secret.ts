/** Shorter beginnings of a key are public: all keys of a vendor begin alike. */
const MIN_REDACTED_LENGTH = 8

/**
 * `text` without `secret`, because services repeat the key that they refuse, and without beginnings of it of eight or
 * more characters, because messages are truncated. A null or empty `secret` removes nothing.
 */
export function withoutSecret(text: string, secret: string | null): string {
  if (secret === null || secret === '') return text
  const head = secret.slice(0, MIN_REDACTED_LENGTH)
  let redacted = ''
  let from = 0
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, from)) {
    let length = head.length
    while (length < secret.length && text[at + length] === secret[length]) length++
    redacted += `${text.slice(from, at)}…`
    from = at + length
  }
  return redacted + text.slice(from)
}
