import { describe, expect, it } from 'vitest'
import { parseChallenges, parseCredentials, serialiseAuthValue } from './auth-value.ts'
import { canonicalName } from './canonical-name.ts'
import { parseContentType } from './content-type.ts'
import { HeaderList } from './header-list.ts'
import { parseNameAddr, parseNameAddrList, serialiseNameAddr } from './name-addr.ts'
import { parseReason, serialiseReason } from './reason.ts'
import { parseRetryAfter } from './retry-after.ts'
import { splitList } from './split-list.ts'
import { tokenList } from './token-list.ts'
import { parseVia, serialiseVia } from './via.ts'
import { serialiseWarning } from './warning.ts'

describe('lists (RFC 3261 section 7.3.1)', () => {
  it('a list is split at commas outside quotes and angle brackets', () => {
    expect(splitList('"a, b" <sip:c,d@e>;x="y,\\"z" , <sip:f>,g')).toEqual([
      '"a, b" <sip:c,d@e>;x="y,\\"z"',
      '<sip:f>',
      'g',
    ])
    expect(splitList('a,,b,')).toEqual(['a', '', 'b', ''])
    expect(splitList('a, "b, c')).toEqual(['a', '"b, c'])
  })

  it('tokens of several header lines form one list', () => {
    const headers = new HeaderList([
      ['Allow', 'INVITE, ACK'],
      ['Supported', 'timer'],
      ['Allow', 'BYE,,"x"'],
    ])
    expect(tokenList(headers, 'Allow')).toEqual(['INVITE', 'ACK', 'BYE'])
    expect(tokenList(headers, 'Require')).toEqual([])
  })
})

describe('header names (RFC 3261 section 7.3.3)', () => {
  it.each([
    ['v', 'Via'],
    ['CALL-ID', 'Call-ID'],
    ['i', 'Call-ID'],
    ['L', 'Content-Length'],
    ['cseq', 'CSeq'],
    ['x-FOO-bar', 'X-Foo-Bar'],
    ['x', 'Session-Expires'],
    ['www-authenticate', 'WWW-Authenticate'],
    ['p-asserted-identity', 'P-Asserted-Identity'],
  ])('the header name %s is read as %s', (name, long) => {
    expect(canonicalName(name)).toBe(long)
    expect(canonicalName(long)).toBe(long)
  })
})

describe('addresses (RFC 3261 section 20.10)', () => {
  it('parameters behind an address without angle brackets belong to the header field', () => {
    expect(parseNameAddr('sip:a@b;tag=1')).toMatchObject({
      uri: { params: new Map() },
      params: new Map([['tag', '1']]),
    })
    expect(parseNameAddr('<sip:a@b;tag=1>')).toMatchObject({
      uri: { params: new Map([['tag', '1']]) },
      params: new Map(),
    })
    expect(parseNameAddr('sip:a@b?Subject=x')).toBeUndefined()
  })

  it('a list of addresses is read completely or refused', () => {
    expect(parseNameAddrList('"A, B" <sip:a@b>, sip:c@d;q=0.5')).toHaveLength(2)
    expect(parseNameAddrList('<sip:a@b>, nonsense')).toBeUndefined()
  })

  it('a display name is quoted and escaped, and refused if it contains a line break', () => {
    const address = parseNameAddr('<sip:a@b>')!
    expect(serialiseNameAddr({ ...address, displayName: 'A "B" \\ C' })).toBe('"A \\"B\\" \\\\ C" <sip:a@b>')
    expect(() => serialiseNameAddr({ ...address, displayName: 'A\r\nRoute: <sip:x>' })).toThrow(
      expect.objectContaining({ code: 'header_injection' }),
    )
  })

  it('parameter values are quoted where the grammar requires it', () => {
    const address = parseNameAddr('<sip:a@b>;+sip.instance="<urn:uuid:1>";q=0.5')!
    expect(serialiseNameAddr(address)).toBe('<sip:a@b>;+sip.instance="<urn:uuid:1>";q=0.5')
  })
})

describe('Via (RFC 3261 section 20.42, RFC 3581)', () => {
  it.each([
    ['SIP/2.0/UDP a.example.com:5060;branch=z9hG4bK1;rport', 'SIP/2.0/UDP a.example.com:5060;branch=z9hG4bK1;rport'],
    ['sip / 2.0 / tls  [2001:DB8::1] : 5061 ; received = [::1]', 'SIP/2.0/TLS [2001:db8::1]:5061;received=[::1]'],
  ])('the Via %s is parsed and serialised', (text, written) => {
    expect(serialiseVia(parseVia(text)!)).toBe(written)
  })

  it.each([
    'SIP/2.0/UDP',
    'SIP/2.0 UDP a',
    'SIP/3.0/UDP a',
    'SIP/2.0/UDPa',
    'SIP/2.0/UDP a:b',
    'SIP/2.0/UDP [::1',
    'HTTP/2.0/UDP a',
    'SIP/2.0/UDP a b',
  ])('the malformed Via "%s" is refused', text => {
    expect(parseVia(text)).toBeUndefined()
  })
})

describe('authentication (RFC 3261 section 20.44, RFC 8760)', () => {
  it('several challenges on one line are read as separate challenges', () => {
    expect(
      parseChallenges(
        'Digest realm="a, b", nonce="x\\"y", algorithm=SHA-256, qop="auth,auth-int", Digest realm="c",nonce=d, Basic realm="e", Negotiate',
      ),
    ).toEqual([
      {
        scheme: 'Digest',
        params: new Map([
          ['realm', 'a, b'],
          ['nonce', 'x"y'],
          ['algorithm', 'SHA-256'],
          ['qop', 'auth,auth-int'],
        ]),
      },
      {
        scheme: 'Digest',
        params: new Map([
          ['realm', 'c'],
          ['nonce', 'd'],
        ]),
      },
      { scheme: 'Basic', params: new Map([['realm', 'e']]) },
      { scheme: 'Negotiate', params: new Map() },
    ])
  })

  it('an unreadable challenge is skipped and the next one is read', () => {
    expect(parseChallenges('Digest realm="a", realm="b", Digest nonce="c"')).toEqual([
      { scheme: 'Digest', params: new Map([['nonce', 'c']]) },
    ])
  })

  it('malformed credentials are refused as a whole', () => {
    expect(parseCredentials('Digest username="bob",nc=00000001 , uri="sip:a@b"')?.params.get('nc')).toBe('00000001')
    expect(parseCredentials('Basic YWxhZGRpbjo=')).toEqual({ scheme: 'Basic', params: new Map() })
    for (const bad of [
      '',
      'Digest a',
      'Digest a="b", a="c"',
      'Digest a="b',
      'Digest a="b" c',
      'Digest a=b c',
      'Digest ="b"',
    ]) {
      const read = parseCredentials(bad)
      expect(read === undefined || read.params.size === 0, bad).toBe(true)
    }
  })

  it('parameter values are written quoted, except those that must be tokens', () => {
    const value = {
      scheme: 'Digest',
      params: new Map([
        ['realm', 'a "b"'],
        ['algorithm', 'MD5'],
      ]),
    }
    expect(serialiseAuthValue(value, new Set(['algorithm']))).toBe('Digest realm="a \\"b\\"", algorithm=MD5')
    const injected = { scheme: 'Digest', params: new Map([['nonce', 'x\r\ny']]) }
    expect(() => serialiseAuthValue(injected, new Set())).toThrow(expect.objectContaining({ code: 'header_injection' }))
  })
})

describe('other values', () => {
  it('Content-Type', () => {
    expect(parseContentType('Application / SDP ; charset="utf-8"')).toEqual({
      mediaType: 'application/sdp',
      params: new Map([['charset', 'utf-8']]),
    })
    expect(parseContentType('application')).toBeUndefined()
  })

  it('Retry-After', () => {
    expect(parseRetryAfter('18000;duration=3600')).toEqual({ seconds: 18000, comment: undefined, duration: 3600 })
    expect(parseRetryAfter('120 (in a meeting)')).toEqual({
      seconds: 120,
      comment: 'in a meeting',
      duration: undefined,
    })
    for (const bad of ['', 'soon', '4294967296', '-1', '12x', '1 (a']) expect(parseRetryAfter(bad), bad).toBeUndefined()
  })

  it('Reason', () => {
    expect(parseReason('SIP ;cause=200 ;text="Call completed elsewhere", Q.850;cause=16, ;x')).toEqual([
      { protocol: 'SIP', cause: 200, text: 'Call completed elsewhere' },
      { protocol: 'Q.850', cause: 16, text: undefined },
    ])
    expect(serialiseReason({ protocol: 'Q.850', cause: 16, text: 'Normal "clearing"' })).toBe(
      'Q.850;cause=16;text="Normal \\"clearing\\""',
    )
  })

  it('Warning', () => {
    expect(serialiseWarning(304, 'parley.example.com:5061', 'No SRTP')).toBe('304 parley.example.com:5061 "No SRTP"')
    expect(() => serialiseWarning(304, 'a b', 'x')).toThrow(expect.objectContaining({ code: 'bad_field' }))
    expect(() => serialiseWarning(304, 'a', 'x\ny')).toThrow(expect.objectContaining({ code: 'header_injection' }))
  })
})
