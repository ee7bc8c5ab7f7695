/** Long forms whose spelling is not simply every word capitalised. */
const IRREGULAR = [
  'Call-ID',
  'CSeq',
  'WWW-Authenticate',
  'MIME-Version',
  'RSeq',
  'RAck',
  'Min-SE',
  'SIP-ETag',
  'SIP-If-Match',
  'Content-ID',
]

const REGULAR = [
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Alert-Info',
  'Allow',
  'Allow-Events',
  'Authorization',
  'Call-Info',
  'Contact',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Content-Length',
  'Content-Type',
  'Date',
  'Diversion',
  'Event',
  'Expires',
  'From',
  'History-Info',
  'Max-Forwards',
  'P-Asserted-Identity',
  'Path',
  'Privacy',
  'Proxy-Authenticate',
  'Proxy-Authorization',
  'Reason',
  'Record-Route',
  'Refer-To',
  'Referred-By',
  'Replaces',
  'Require',
  'Retry-After',
  'Route',
  'Server',
  'Session-Expires',
  'Subject',
  'Subscription-State',
  'Supported',
  'Timestamp',
  'To',
  'Unsupported',
  'User-Agent',
  'Via',
  'Warning',
]

/** RFC 3261 section 7.3.3 and the IANA registry of header fields. */
const COMPACT: Readonly<Record<string, string>> = {
  a: 'Accept-Contact',
  b: 'Referred-By',
  c: 'Content-Type',
  d: 'Request-Disposition',
  e: 'Content-Encoding',
  f: 'From',
  i: 'Call-ID',
  j: 'Reject-Contact',
  k: 'Supported',
  l: 'Content-Length',
  m: 'Contact',
  n: 'Identity-Info',
  o: 'Event',
  r: 'Refer-To',
  s: 'Subject',
  t: 'To',
  u: 'Allow-Events',
  v: 'Via',
  x: 'Session-Expires',
  y: 'Identity',
}

const KNOWN = new Map<string, string>()
for (const name of [...IRREGULAR, ...REGULAR]) KNOWN.set(name, name).set(name.toLowerCase(), name)
for (const [compact, name] of Object.entries(COMPACT)) KNOWN.set(compact, name)

/** The long form of a header name in its usual spelling: "v" and "VIA" give "Via", "x-foo" gives "X-Foo". */
export function canonicalName(name: string): string {
  const known = KNOWN.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  return KNOWN.get(lower) ?? lower.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())
}
