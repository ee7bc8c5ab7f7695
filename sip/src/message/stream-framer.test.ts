import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from './parse-result.ts'
import { StreamFramer } from './stream-framer.ts'

const OPTIONS = [
  'OPTIONS sip:parley.example.com SIP/2.0',
  'Via: SIP/2.0/TLS client.example.com;branch=z9hG4bK74bf9',
  'Max-Forwards: 70',
  'From: <sip:alice@example.com>;tag=9fxced76sl',
  'To: <sip:parley.example.com>',
  'Call-ID: 3848276298220188511@client.example.com',
  'CSeq: 1 OPTIONS',
].join('\r\n')
const withLength = (length: string, body = '') => `${OPTIONS}\r\nContent-Length: ${length}\r\n\r\n${body}`

function reader(limits = DEFAULT_LIMITS) {
  const framer = new StreamFramer(limits)
  return (text: string): unknown[] => {
    framer.push(Buffer.from(text, 'latin1'))
    const results: unknown[] = []
    for (let next = framer.next(); next !== undefined; next = framer.next()) results.push(next)
    return results
  }
}

describe('keep-alives on a stream (RFC 5626 section 3.5.1)', () => {
  it('a double CRLF is a ping and a single CRLF is a pong', () => {
    const read = reader()
    expect(read('\r\n\r\n')).toEqual([{ keepAlive: 'ping' }])
    expect(read('\r\n')).toEqual([{ keepAlive: 'pong' }])
    expect(read(withLength('0'))).toMatchObject([{ ok: true }])
    expect(read('\r\n\r\n\r\n\r\n')).toEqual([{ keepAlive: 'ping' }, { keepAlive: 'ping' }])
  })

  it('a ping that arrives in pieces is reported once', () => {
    for (const pieces of [
      ['\r', '\n\r\n'],
      ['\r\n', '\r\n'],
      ['\r\n\r', '\n'],
      ['\r', '\n', '\r', '\n'],
    ]) {
      const read = reader()
      const pings = pieces.flatMap(read).filter(result => (result as { keepAlive?: string }).keepAlive === 'ping')
      expect(pings, JSON.stringify(pieces)).toHaveLength(1)
    }
  })

  it('the line breaks of a ping are not part of the next message', () => {
    const read = reader()
    read('\r')
    expect(read(`\n${withLength('0')}`)).toMatchObject([{ keepAlive: 'pong' }, { ok: true }])
  })
})

describe('framing on a stream (RFC 3261 section 18.3)', () => {
  it('framing continues behind a refused message whose length is known', () => {
    const bad = withLength('5', 'hello').replace('CSeq: 1', 'CSeq: x')
    expect(reader()(bad + withLength('0'))).toMatchObject([
      { ok: false, answer: 400, fatal: false, fault: { code: 'bad_cseq' } },
      { ok: true },
    ])
  })

  it.each([
    ['missing', `${OPTIONS}\r\n\r\n`, 400],
    ['negative', withLength('-1'), 400],
    ['no number', withLength('five'), 400],
    ['hexadecimal', withLength('0x10'), 400],
    ['in scientific notation', withLength('1e1'), 400],
    ['2^32', withLength('4294967296'), 413],
    ['2^64', withLength('18446744073709551616'), 400],
    ['over the limit', withLength('65537'), 413],
    ['given twice, the same', withLength('0\r\nContent-Length: 0'), 400],
    ['given twice, once compact', withLength('0\r\nl: 4'), 400],
    ['several in one line', withLength('0, 0'), 400],
  ])('the connection is closed if the Content-Length is %s', (_what, bytes, answer) => {
    const read = reader()
    expect(read(bytes)).toMatchObject([{ ok: false, fatal: true, answer }])
    expect(read(withLength('0'))).toEqual([])
  })

  it('bytes that are not SIP are refused as fatal, without a response', () => {
    expect(reader()('GET / HTTP/1.1\r\nHost: example.com\r\n\r\n')).toMatchObject([
      { ok: false, fatal: true, answer: null, fault: { code: 'not_sip' } },
    ])
    expect(reader()('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n')).toMatchObject([{ ok: false, fatal: true }])
  })

  it('headers that exceed the limit are refused before their end arrives', () => {
    const read = reader()
    const endless = `${OPTIONS}\r\nX-Padding: ${'a'.repeat(6000)}\r\n`.concat(
      'X-More: b\r\n'.repeat(60),
      'X-Padding: ',
      'a'.repeat(9800),
    )
    expect(read(endless)).toMatchObject([{ ok: false, fatal: true, answer: 513, fault: { code: 'headers_too_large' } }])
  })

  it('the framer buffers at most one message while bodies are large', () => {
    const read = reader()
    const body = 'x'.repeat(65536)
    for (let i = 0; i < 20; i++) expect(read(withLength('65536', body))).toMatchObject([{ ok: true }])
  })
})
