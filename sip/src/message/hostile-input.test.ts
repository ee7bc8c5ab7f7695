import { describe, expect, it } from 'vitest'
import type { SipRequest } from './message.ts'
import { parseDatagram } from './parse-datagram.ts'
import { DEFAULT_LIMITS, type MessageLimits } from './parse-result.ts'
import { StreamFramer } from './stream-framer.ts'

const VIA = 'Via: SIP/2.0/UDP client.example.com;branch=z9hG4bK74bf9'
const FROM = 'From: <sip:alice@example.com>;tag=9fxced76sl'
const TO = 'To: <sip:bob@example.com>'
const CALL_ID = 'Call-ID: 3848276298220188511@client.example.com'
const CSEQ = 'CSeq: 1 OPTIONS'
const BASE = [VIA, 'Max-Forwards: 70', FROM, TO, CALL_ID, CSEQ]

function options(...more: string[]): Buffer {
  return Buffer.from(
    ['OPTIONS sip:bob@example.com SIP/2.0', ...BASE, ...more, 'Content-Length: 0', '', ''].join('\r\n'),
    'latin1',
  )
}

function optionsWith(replaced: string, by: string): Buffer {
  return Buffer.from(options().toString('latin1').replace(replaced, by), 'latin1')
}

/** Limits that no input of these tests reaches, so that the tests measure the parser itself. */
const OPEN: MessageLimits = { headerBytes: 1 << 20, bodyBytes: 1 << 20, headerCount: 1 << 20, lineBytes: 1 << 20 }

describe('size limits', () => {
  it.each([
    ['100,000 header lines', options(...new Array(100_000).fill('X-A: b')), 513, 'headers_too_large'],
    ['129 short header lines', options(...new Array(129).fill('X-A: b')), 400, 'too_many_headers'],
    ['one line of 9,000 bytes', options(`X-A: ${'b'.repeat(9000)}`), 400, 'line_too_long'],
    ['one line folded to 9,000 bytes', options(`X-A: ${'b\r\n '.repeat(2300)}`), 400, 'line_too_long'],
    ['a Request-URI of 9,000 bytes', optionsWith('sip:bob@', `sip:${'b'.repeat(9000)}@`), 414, 'start_line_too_long'],
    ['headers of 60,000 bytes without end', options(`X-A: ${'b'.repeat(60_000)}`), 513, 'headers_too_large'],
  ])('%s: the message is refused', (_what, bytes, answer, code) => {
    expect(parseDatagram(bytes)).toMatchObject({ ok: false, answer, fault: { code } })
  })

  it('a body of 65,536 bytes is accepted and a longer one is refused', () => {
    const bytes = (length: number) =>
      Buffer.concat([
        Buffer.from(options('Content-Type: text/plain').toString('latin1').replace('Length: 0', `Length: ${length}`)),
        Buffer.alloc(length),
      ])
    expect(parseDatagram(bytes(65_536))).toMatchObject({ ok: true })
    expect(parseDatagram(bytes(65_537))).toMatchObject({ ok: false, answer: 413 })
  })
})

describe('messages with one fault', () => {
  it.each<[string, Buffer, number | null, string, string]>([
    ['no Via, so nowhere to answer', optionsWith(`${VIA}\r\n`, ''), null, 'missing_header', 'Via'],
    [
      'an ACK is never answered',
      Buffer.from(options().toString().replaceAll('OPTIONS', 'ACK').replace(TO, 'To: <')),
      null,
      'bad_address',
      'To',
    ],
    ['an unterminated quote', optionsWith('To: <', 'To: "Bob <'), 400, 'bad_address', 'To'],
    ['an unterminated bracket', optionsWith('example.com>;tag', 'example.com;tag'), 400, 'bad_address', 'From'],
    ['an unterminated quote in a parameter', optionsWith('tag=9', 'x="9'), 400, 'bad_address', 'From'],
    ['a NUL in a header', options('X-A: a\0b'), 400, 'control_character', 'X-A'],
    ['a NUL in an address', optionsWith('bob@', 'b\0b@'), 400, 'bad_uri', 'start_line'],
    ['a NUL unescaped in a display name', optionsWith('To: <', 'To: "a\0" <'), 400, 'bad_address', 'To'],
    ['a carriage return in a header', options('X-A: a\rX-B: b'), 400, 'bare_carriage_return', 'message'],
    ['a header without name', options(': b'), 400, 'bad_header_line', 'message'],
    ['a header without colon', options('X-A b'), 400, 'bad_header_line', 'message'],
    ['a space in a header name', options('X A: b'), 400, 'bad_header_line', 'message'],
    ['a folded start line', optionsWith('SIP/2.0\r\n', 'SIP/2.0\r\n x\r\n'), 400, 'bad_header_line', 'message'],
    ['an empty element in Via', optionsWith(VIA, `${VIA},,`), 400, 'bad_via', 'Via'],
    ['an empty parameter', optionsWith(';tag', ';;tag'), 400, 'bad_address', 'From'],
    ['"*" beside a Contact', options('Contact: *, <sip:a@b>'), 400, 'bad_contact', 'Contact'],
    ['a sequence number of 2^31', optionsWith('CSeq: 1', 'CSeq: 2147483648'), 400, 'bad_cseq', 'CSeq'],
    ['a negative sequence number', optionsWith('CSeq: 1', 'CSeq: -1'), 400, 'bad_cseq', 'CSeq'],
    [
      'a Content-Length of 2^32',
      optionsWith('Length: 0', 'Length: 4294967296'),
      400,
      'content_length_mismatch',
      'Content-Length',
    ],
    [
      'a Content-Length that is one too long',
      optionsWith('Length: 0', 'Length: 1'),
      400,
      'content_length_mismatch',
      'Content-Length',
    ],
    [
      'a port of 65536',
      optionsWith('sip:bob@example.com SIP', 'sip:bob@example.com:65536 SIP'),
      400,
      'bad_uri',
      'start_line',
    ],
    [
      'a broken escape',
      optionsWith('sip:bob@example.com SIP', 'sip:b%4@example.com SIP'),
      400,
      'bad_uri',
      'start_line',
    ],
    ['a Content-Type that is none', options('Content-Type: sdp'), 400, 'bad_content_type', 'Content-Type'],
    ['nothing', Buffer.alloc(0), null, 'not_sip', 'start_line'],
    ['a keep-alive', Buffer.from('\r\n\r\n'), null, 'not_sip', 'start_line'],
    ['a STUN request', Buffer.from('000100002112a442000102030405060708090a0b', 'hex'), null, 'not_sip', 'start_line'],
  ])('a message with one fault is refused with its place: %s', (_what, bytes, answer, code, where) => {
    expect(parseDatagram(bytes)).toMatchObject({ ok: false, answer, fatal: false, fault: { code, where } })
  })

  it('the reported offset of a fault counts bytes, not characters', () => {
    const bytes = Buffer.concat([
      optionsWith('Content-Length: 0\r\n\r\n', 'Subject: '),
      Buffer.from('größe\r\nX-A: \0\r\n\r\n'),
    ])
    const result = parseDatagram(bytes)
    expect(result).toMatchObject({ ok: false, fault: { offset: bytes.indexOf('X-A') } })
  })

  it('a display name in UTF-8 is read without a fault, one in ISO 8859-1 with a fault', () => {
    const named = (name: Buffer) => {
      const [before = '', after = ''] = options().toString('latin1').split('To: ')
      return parseDatagram(Buffer.concat([Buffer.from(`${before}To: "`), name, Buffer.from(`" ${after}`)]))
    }
    expect(named(Buffer.from('Zoë 電話'))).toMatchObject({ message: { to: { displayName: 'Zoë 電話' } }, faults: [] })
    expect(named(Buffer.from('Zoë', 'latin1'))).toMatchObject({
      message: { to: { displayName: 'Zoë' } },
      faults: [{ code: 'bad_utf8', where: 'To' }],
    })
  })

  it('a harmless violation of the grammar is accepted and reported as a fault', () => {
    const result = parseDatagram(
      Buffer.from(
        options('Subject: a', 'Subject: b', 'X-A: \u0007', 'Expires: never', 'Contact: <sip:a@b>;')
          .toString('latin1')
          .replace('To: <', 'To: Bob (home) <')
          .replace('Max-Forwards: 70', 'Max-Forwards: 256'),
      ),
    )
    expect(result).toMatchObject({ ok: true })
    expect(result.ok && result.faults.map(fault => fault.code).sort()).toEqual([
      'bad_expires',
      'bad_max_forwards',
      'control_character',
      'duplicate_header',
      'trailing_semicolon',
      'unquoted_display_name',
    ])
    expect(result.ok && (result.message as SipRequest).headers.get('Subject')).toBe('a')
  })
})

/**
 * Processor time of this thread for one run, in milliseconds, independent of other processes. Repeated until the
 * sum is well above the 4 ms in which the system counts.
 */
function cost(work: () => void): number {
  work()
  const before = process.threadCpuUsage()
  for (let runs = 1; ; runs++) {
    work()
    const { user, system } = process.threadCpuUsage(before)
    const ms = (user + system) / 1000
    if (ms >= 40) return ms / runs
  }
}

const SMALL = 16_384
const LARGE = 131_072
const MAX_RATIO = 24
/**
 * Eight times the bytes cost eight times the processor time if parsing is linear, and 64 times if it is quadratic. One
 * collection of garbage within the larger one can cost more than the parsing: the best of three ratios counts.
 */
function expectLinear(costOf: (bytes: number) => number): void {
  let ratio = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 3 && ratio >= MAX_RATIO; attempt++) {
    const smallMs = costOf(SMALL)
    ratio = Math.min(ratio, costOf(LARGE) / smallMs)
  }
  expect(ratio).toBeLessThan(MAX_RATIO)
}

describe('parsing time grows linearly with the size of the input', () => {
  const many = (part: string, bytes: number) => part.repeat(Math.ceil(bytes / part.length))
  it.each<[string, (bytes: number) => Buffer]>([
    ['header lines', bytes => options(many('X-A: b\r\n', bytes).trim())],
    ['folds', bytes => options(`X-A: ${many('b\r\n ', bytes)}`)],
    ['spaces in a folded line', bytes => options(`X-A: a\r\n ${many(' ', bytes)}b`)],
    ['spaces in a start line', bytes => optionsWith(' SIP/2.0\r\n', `${many(' ', bytes)}SIP/2.0\r\n`)],
    ['commas in Contact', bytes => options(`Contact: ${many('<sip:a@b>,', bytes)}<sip:a@b>`)],
    ['commas in an unknown header', bytes => options(`X-A: ${many(',', bytes)}`)],
    ['Via lines', bytes => options(many('Via: SIP/2.0/UDP a;branch=z9hG4bKx\r\n', bytes).trim())],
    ['Vias malformed', bytes => options(`Via: SIP ${many(' /', bytes)}`)],
    ['Route lines', bytes => options(many('Route: <sip:a;lr>\r\n', bytes).trim())],
    ['quotes', bytes => optionsWith('To: <', `To: ${many('"', bytes)} <`)],
    ['an unterminated quote with backslashes', bytes => optionsWith('To: <', `To: "${many('\\', bytes)} <`)],
    ['quotes in a list', bytes => options(`Contact: ${many('"a",', bytes)}`)],
    ['open brackets', bytes => options(`Contact: ${many('<', bytes)}`)],
    ['display name words', bytes => optionsWith('To: <', `To: ${many('a ', bytes)} <`)],
    ['URI parameters', bytes => optionsWith('example.com SIP', `example.com${many(';a=b', bytes)} SIP`)],
    ['URI escapes', bytes => optionsWith('sip:bob@', `sip:${many('%41', bytes)}@`)],
    ['URI escapes that are no UTF-8', bytes => optionsWith('sip:bob@', `sip:${many('%ff', bytes)}@`)],
    ['header parameters', bytes => optionsWith(';tag', `${many(';a=b', bytes)};tag`)],
    ['tags that cannot be salvaged', bytes => optionsWith('From: <', `From: ${many('; tag =', bytes)}<`)],
    ['colons in a host', bytes => optionsWith('example.com SIP', `[${many(':', bytes)}] SIP`)],
    ['digits', bytes => optionsWith('CSeq: 1', `CSeq: ${many('1', bytes)}`)],
  ])('parsing time grows linearly with the number of %s', (_what, build) => {
    expectLinear(size => {
      const bytes = build(size)
      return cost(() => parseDatagram(bytes, OPEN))
    })
  })

  it.each([1, 100, 4096])('parsing a stream in chunks of %i bytes takes linear time', size => {
    expectLinear(length => {
      const bytes = options(many('X-A: b\r\n', length).trim())
      return cost(() => {
        const framer = new StreamFramer(OPEN)
        for (let i = 0; i < bytes.length; i += size) {
          framer.push(bytes.subarray(i, i + size))
          framer.next()
        }
      })
    })
  })

  it('parsing a hostile datagram of 64 KiB takes little time under the default limits', () => {
    for (const bytes of [
      options(many('X-A: b\r\n', 65_000).trim()),
      options(`Contact: ${many('<sip:a@b>,', 65_000)}`),
    ]) {
      expect(cost(() => parseDatagram(bytes, DEFAULT_LIMITS))).toBeLessThan(20)
    }
  })
})
