import { parseUri } from '../message/uri.ts'

/**
 * The SIP domains that a certificate's URI entries prove (RFC 5922 section 7.1): the hosts of `sip:` URIs without a user part,
 * in lower case. `altNames` is Node's text of subjectAltName, such as `DNS:a.example, URI:sip:b.example`.
 */
export function sipDomainsOf(altNames: string): string[] {
  return entriesOf(altNames).flatMap(entry => {
    const uri = /^URI:(.*)$/s.exec(entry)?.[1]
    const parsed = uri === undefined ? undefined : parseUri(uri)
    if (parsed?.scheme !== 'sip' || !('host' in parsed) || parsed.user !== undefined) return []
    return [parsed.host.toLowerCase()]
  })
}

/** Node separates entries by ", " and writes those that could be misread as JSON strings: `URI:"sip:a, DNS:b"`. */
function entriesOf(altNames: string): string[] {
  const entries: string[] = []
  const pattern = /(?<type>[A-Za-z ]+):(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<plain>[^",]*))(?:, |$)/gy
  for (let match = pattern.exec(altNames); match !== null && match[0] !== ''; match = pattern.exec(altNames)) {
    const { type, quoted, plain } = match.groups!
    entries.push(`${type}:${quoted === undefined ? plain : unquoted(quoted)}`)
  }
  return entries
}

/** Empty when it is no JSON string: such an entry proves nothing. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return ''
  }
}
