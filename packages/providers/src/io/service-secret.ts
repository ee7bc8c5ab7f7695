/** A beginning of a secret that is shorter tells nothing: vendors' keys all begin alike. */
const LEAST_TOLD = 8

/**
 * `text` without `secret`: services repeat the key that they refuse. Also without a longer beginning of it, since what
 * services say is cut before it is told. Null or empty: there is none.
 */
export function withoutSecret(text: string, secret: string | null): string {
  if (secret === null || secret === '') return text
  const head = secret.slice(0, LEAST_TOLD)
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
