/** Headers of the connection (RFC 9110 section 7.6.1), and headers that this client sets itself. */
const NOT_FOR_USERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/
const MAX_VALUE_LENGTH = 16_384
const MAX_HEADERS = 100

/**
 * The headers that are sent, names in lower case. Invalid names, headers of the connection, and headers beyond 100 are
 * dropped. In values, control characters become spaces, text beyond ASCII is encoded as UTF-8, and long values are truncated.
 */
export function requestHeaders(userHeaders: Readonly<Record<string, string>>): Record<string, string> {
  const headers = new Map<string, string>([['user-agent', 'Parley']])
  for (const [name, value] of Object.entries(userHeaders)) {
    const lower = name.toLowerCase()
    if (!TOKEN.test(name) || NOT_FOR_USERS.has(lower) || headers.size >= MAX_HEADERS) continue
    headers.set(lower, oneLine(value))
  }
  // The limit of the answer counts the bytes that are received.
  headers.set('accept-encoding', 'identity')
  return Object.fromEntries(headers)
}

function oneLine(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this expression removes control characters
  const line = value.replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, ' ').trim()
  return Buffer.from(line.toWellFormed(), 'utf8').toString('latin1').slice(0, MAX_VALUE_LENGTH)
}
