import { describe, expect, it } from 'vitest'
import { SipMessageError } from '../errors.ts'
import { HeaderList } from './header-list.ts'
import type { NameAddr, SipRequest, SipUri } from './message.ts'
import { createRequest, createResponse } from './message-factory.ts'
import { parseNameAddr } from './name-addr.ts'
import { parseDatagram } from './parse-datagram.ts'
import { serialise } from './serialise.ts'
import { parseVia } from './via.ts'

const address = (text: string): NameAddr => parseNameAddr(text)!
const INVITE = createRequest({
  method: 'INVITE',
  uri: address('<sip:bob@biloxi.example.com;transport=tls>').uri,
  via: [parseVia('SIP/2.0/TLS pc33.atlanta.example.com:5061;branch=z9hG4bK776asdhds')!],
  from: address('"Alice" <sip:alice@atlanta.example.com>;tag=1928301774'),
  to: address('<sip:bob@biloxi.example.com>'),
  callId: 'a84b4c76e66710@pc33',
  cseq: { sequence: 314159, method: 'INVITE' },
  contact: [address('<sip:alice@pc33.atlanta.example.com>')],
  headers: new HeaderList([
    ['Timestamp', '54'],
    ['X-Custom', 'größe'],
  ]),
  body: Buffer.from('v=0\r\n'),
  contentType: 'application/sdp',
})
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8')

describe('serialising a request', () => {
  it('header names are written in long form, and Content-Length counts bytes', () => {
    expect(textOf(serialise(INVITE)).split('\r\n')).toEqual([
      'INVITE sip:bob@biloxi.example.com;transport=tls SIP/2.0',
      'Via: SIP/2.0/TLS pc33.atlanta.example.com:5061;branch=z9hG4bK776asdhds',
      'Max-Forwards: 70',
      'From: "Alice" <sip:alice@atlanta.example.com>;tag=1928301774',
      'To: <sip:bob@biloxi.example.com>',
      'Call-ID: a84b4c76e66710@pc33',
      'CSeq: 314159 INVITE',
      'Contact: <sip:alice@pc33.atlanta.example.com>',
      'Timestamp: 54',
      'X-Custom: größe',
      'Content-Type: application/sdp',
      'Content-Length: 5',
      '',
      'v=0',
      '',
    ])
  })

  const EVIL = 'x\r\nRoute: <sip:evil.example>'
  const uri = INVITE.uri as SipUri
  it.each<[string, Partial<SipRequest>]>([
    ['the method', { method: EVIL }],
    ['the host', { uri: { ...uri, host: EVIL } }],
    ['another scheme', { uri: { scheme: 'tel', opaque: EVIL } }],
    ['a display name', { from: { ...INVITE.from, displayName: EVIL } }],
    ['a tag', { to: { ...INVITE.to, params: new Map([['tag', EVIL]]) } }],
    ['a parameter name', { to: { ...INVITE.to, params: new Map([[EVIL, null]]) } }],
    ['the Call-ID', { callId: EVIL }],
    ['the method in CSeq', { cseq: { sequence: 1, method: EVIL } }],
    ['a Via transport', { via: [{ ...INVITE.via[0]!, transport: EVIL }] }],
    ['a Via host', { via: [{ ...INVITE.via[0]!, host: EVIL }] }],
    ['a header value', { headers: new HeaderList([['X-A', EVIL]]) }],
    ['a header value, LF alone', { headers: new HeaderList([['X-A', 'x\ny']]) }],
    ['a header value, CR alone', { headers: new HeaderList([['X-A', 'x\ry']]) }],
    ['a header value, NUL', { headers: new HeaderList([['X-A', 'x\0y']]) }],
    ['a header name', { headers: new HeaderList([[EVIL, 'x']]) }],
  ])('a line break in %s is refused', (_where, change) => {
    const attempt = () => serialise({ ...INVITE, ...change } as SipRequest)
    expect(attempt).toThrow(SipMessageError)
    expect(attempt).toThrow(expect.objectContaining({ code: 'header_injection' }))
  })

  it('a line break in a user part is percent-encoded and cannot start a new header line', () => {
    const bytes = serialise({ ...INVITE, uri: { ...uri, user: EVIL } })
    expect(textOf(bytes)).toContain('INVITE sip:x%0D%0ARoute%3A%20%3Csip%3Aevil.example%3E@biloxi')
  })

  it.each<[string, Partial<SipRequest>]>([
    ['a field twice', { headers: new HeaderList([['From', '<sip:mallory@example.com>']]) }],
    ['a Max-Forwards that is none', { maxForwards: 256 }],
    ['a negative CSeq', { cseq: { sequence: -1, method: 'INVITE' } }],
    ['an empty Call-ID', { callId: '' }],
    ['an empty header name', { headers: new HeaderList([['', 'x']]) }],
  ])('a request with %s is not serialised', (_what, change) => {
    expect(() => serialise({ ...INVITE, ...change } as SipRequest)).toThrow(
      expect.objectContaining({ code: 'bad_field' }),
    )
  })

  it('Content-Length is computed from the body', () => {
    const bytes = serialise({ ...INVITE, headers: INVITE.headers.with('Content-Length', '9999') })
    expect(textOf(bytes).match(/Content-Length: .*/g)).toEqual(['Content-Length: 5'])
  })
})

describe('responses (RFC 3261 section 8.2.6)', () => {
  const received = parseDatagram(
    serialise({ ...INVITE, recordRoute: [address('<sip:p1;lr>'), address('<sip:p2;lr>')] }),
  )
  const request = (received.ok ? received.message : undefined) as SipRequest

  it('a response copies Via, From, To, Call-ID and CSeq and adds a To tag', () => {
    const ringing = createResponse(request, 180, { toTag: 'a6c85cf' })
    expect(ringing).toMatchObject({
      status: 180,
      reason: 'Ringing',
      via: request.via,
      from: request.from,
      callId: request.callId,
      cseq: request.cseq,
    })
    expect(ringing.to.params.get('tag')).toBe('a6c85cf')
    expect(ringing.recordRoute).toEqual([])
  })

  it('a response repeats branches and tags unchanged, even if they are not tokens', () => {
    const odd = {
      ...request,
      via: [parseVia('SIP/2.0/UDP a.example.com;branch=z9hG4bKa/b+c==')!],
      from: address('<sip:a@example.com>;tag=x/y=='),
    }
    const text = textOf(serialise(createResponse(odd, 200)))
    expect(text).toContain(';branch=z9hG4bKa/b+c==\r\n')
    expect(text).toContain(';tag=x/y==\r\n')
  })

  it('a response keeps the To tag of the request', () => {
    const inDialog = { ...request, to: address('<sip:bob@biloxi.example.com>;tag=old') }
    expect(createResponse(inDialog, 200, { toTag: 'new' }).to.params.get('tag')).toBe('old')
  })

  it('a response that creates a dialog copies Record-Route in its order', () => {
    expect(createResponse(request, 200, { toTag: 'a', copyRecordRoute: true }).recordRoute).toEqual(request.recordRoute)
  })

  it('a 100 has no To tag and repeats the Timestamp of the request', () => {
    const trying = createResponse(request, 100, { toTag: 'a' })
    expect(trying.to.params.has('tag')).toBe(false)
    expect(trying.headers.get('Timestamp')).toBe('54')
    expect(createResponse(request, 180).headers.has('Timestamp')).toBe(false)
  })

  it('a response with a body has exactly one Content-Type', () => {
    const body = Buffer.from('v=0\r\n')
    const ok = createResponse(request, 200, {
      body,
      contentType: 'application/sdp',
      headers: new HeaderList([['Content-Type', 'x/y']]),
    })
    expect(ok.headers.all('Content-Type')).toEqual(['application/sdp'])
    expect(() => createResponse(request, 200, { body })).toThrow(expect.objectContaining({ code: 'bad_field' }))
  })
})
