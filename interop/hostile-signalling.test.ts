import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { VirtualPhone } from '@parley/phone'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { closeTestVoice, dialling, type EngineUnderTest, startEngine, TOKEN } from './engine.ts'
import { interopCertificates } from './recipe.ts'
import { requires } from './skip.ts'

const tools = requires({ openssl: 'openssl' })

const ANSWERED_WITHIN_MS = 10_000
/** Time in which an unwanted answer would arrive. */
const QUIET_MS = 300

/** A TLS client without credentials that writes any bytes. */
class Stranger {
  readonly #socket: TLSSocket
  received = ''
  closed = false

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', chunk => {
      this.received += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
    })
  }

  static async connect(under: EngineUnderTest): Promise<Stranger> {
    const { ca } = await interopCertificates()
    const socket = connect({
      host: '127.0.0.1',
      port: under.engine.endpoint.port('tls'),
      ca: readFileSync(ca),
      servername: 'localhost',
    })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    onTestFinished(() => void socket.destroy())
    return new Stranger(socket)
  }

  /**
   * Sends bytes and returns the status codes of the responses: waits for `expected` of them, then `quietMs` for more. A 100 does
   * not count: it says that the engine took 200 ms.
   */
  async ask(bytes: string | Uint8Array, expected = 0, quietMs = QUIET_MS): Promise<number[]> {
    this.received = ''
    this.#socket.write(bytes)
    const statuses = () =>
      [...this.received.matchAll(/^SIP\/2\.0 (\d{3}) /gm)]
        .map(match => Number(match[1]))
        .filter(status => status !== 100)
    const giveUpAt = performance.now() + ANSWERED_WITHIN_MS
    while (statuses().length < expected && performance.now() < giveUpAt) await pause(10)
    await pause(quietMs)
    return statuses()
  }
}

const SRTP_OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 40000 RTP/SAVP 0',
  'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj',
  '',
].join('\r\n')

let serial = 0

function request(method: string, uri: string, options: { type?: string; body?: string; extra?: string } = {}): string {
  const body = options.body ?? ''
  serial++
  return [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bKhostile${serial}`,
    'Max-Forwards: 70',
    `From: <sip:stranger@127.0.0.1>;tag=s${serial}`,
    `To: <${uri}>`,
    `Call-ID: hostile-${serial}`,
    `CSeq: 1 ${method}`,
    'Contact: <sip:stranger@127.0.0.1:9;transport=tls>',
    ...(options.extra === undefined ? [] : [options.extra]),
    ...(body === '' ? [] : [`Content-Type: ${options.type ?? 'application/sdp'}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

const KNOWN = `sip:${TOKEN}@localhost`
const UNKNOWN = 'sip:100@localhost'

type Row = readonly [what: string, bytes: string, answered: number[]]

const rows: readonly Row[] = [
  ['OPTIONS without the token gets no answer', request('OPTIONS', UNKNOWN), []],
  ['REGISTER gets no answer', request('REGISTER', UNKNOWN), []],
  ['INVITE without the token gets no answer', request('INVITE', UNKNOWN, { body: SRTP_OFFER }), []],
  ['BYE without the token gets no answer', request('BYE', UNKNOWN), []],
  ['OPTIONS with the token is answered 200', request('OPTIONS', KNOWN), [200]],
  [
    'BYE for an unknown dialog is answered 481',
    request('BYE', KNOWN, { extra: 'X-A: b' }).replace(/^To: .*$/m, `To: <${KNOWN}>;tag=gone`),
    [481],
  ],
  ['a malformed SDP is answered 400', request('INVITE', KNOWN, { body: 'hello' }), [400]],
  [
    'an offer of plain RTP is answered 488',
    request('INVITE', KNOWN, { body: SRTP_OFFER.replace('SAVP', 'AVP').replace(/a=crypto.*\r\n/, '') }),
    [488],
  ],
  [
    'an offer of RTP/AVP with keys is answered 488',
    request('INVITE', KNOWN, { body: SRTP_OFFER.replace('SAVP', 'AVP') }),
    [488],
  ],
  [
    'an offer of video alone is answered 488',
    request('INVITE', KNOWN, { body: SRTP_OFFER.replace('m=audio', 'm=video') }),
    [488],
  ],
  ['a body of another type is answered 415', request('INVITE', KNOWN, { type: 'text/plain', body: 'hi' }), [415]],
  [
    'a multipart body without its boundary is answered 400',
    request('INVITE', KNOWN, { type: 'multipart/mixed;boundary=x', body: 'hi' }),
    [400],
  ],
  [
    'an unknown required extension is answered 420',
    request('INVITE', KNOWN, { body: SRTP_OFFER, extra: 'Require: warp-drive' }),
    [420],
  ],
  ['an unknown method is answered 501', request('FROBNICATE', KNOWN), [501]],
  ['a method that the engine does not allow is answered 405', request('SUBSCRIBE', KNOWN), [405]],
  [
    'REFER outside of a dialog is answered 403',
    request('REFER', KNOWN, { extra: 'Refer-To: <sip:premium@example.net>' }),
    [403],
  ],
  [
    'INVITE with a malformed Request-URI gets no answer',
    request('INVITE', 'sip:@@:x', { body: SRTP_OFFER }).replace(/^To: .*$/m, `To: <${KNOWN}>`),
    [],
  ],
]

describe.skipIf(tools.missing)(`hostile signalling against a running engine${tools.note}`, () => {
  afterAll(closeTestVoice)

  it.each(rows)('%s', async (_what, bytes, answered) => {
    const under = await startEngine()
    const stranger = await Stranger.connect(under)
    expect(await stranger.ask(bytes, answered.length)).toEqual(answered)
    expect(under.engine.calls.size).toBe(0)
    expect(under.engine.endpoint.media.describe()).toContain('0 session(s)')
  })

  it('the engine answers a phone while strangers flood it with garbage and INVITEs', async () => {
    const under = await startEngine()
    const strangers = await Promise.all(Array.from({ length: 20 }, () => Stranger.connect(under)))
    const noise = Buffer.alloc(32_768)
    for (let i = 0; i < noise.length; i++) noise[i] = (i * 7919 + (i >> 8)) & 0xff
    for (const stranger of strangers) void stranger.ask(noise, 0, 0)
    for (const stranger of strangers)
      void stranger.ask(request('INVITE', UNKNOWN, { body: SRTP_OFFER }).repeat(50), 0, 0)

    const phone = await openPhone()
    const call = await phone.call(under.uri)
    call.leg.detectVoice({})
    // The voice is loaded in this call, which takes longer beside other tests.
    await call.waitFor('answered', 60_000)
    await call.waitFor('voice-start', 60_000)
    const end = await call.hangUp()
    expect(end.confirmed).toBe(true)
    expect((await under.nextReport()).run.outcome).toMatchObject({ kind: 'caller_hung_up' })
    expect(under.events.filter(event => event.type === 'ended')).toHaveLength(1)
  })

  it('a call to a number that is not on the trunk is answered 404 and leaves no call behind', async () => {
    const under = await startEngine({
      routes: [{ token: TOKEN, security: 'srtp-required', numbers: ['+15550001111'] }],
    })
    const stranger = await Stranger.connect(under)
    const invite = request('INVITE', KNOWN, { body: SRTP_OFFER }).replace(
      /^To: .*$/m,
      'To: <sip:+15550009999@localhost>',
    )
    expect(await stranger.ask(invite, 1)).toEqual([404])
    expect(under.engine.calls.size).toBe(0)
  })

  it('a peer that the engine has called gets 481 for an unknown dialog, but no answer to a new call', async () => {
    const under = await startEngine()
    const phone = await openPhone()
    phone.behaviour = { type: 'reject', status: 486 }
    const call = await under.dial(dialling(phone.uri()))
    await call.report
    const known = await Stranger.connect(under)
    expect(await known.ask(request('BYE', UNKNOWN).replace(/^To: .*$/m, `To: <${UNKNOWN}>;tag=gone`), 1)).toEqual([481])
    expect(await known.ask(request('INVITE', UNKNOWN, { body: SRTP_OFFER }))).toEqual([])
  })
})

async function openPhone(): Promise<VirtualPhone> {
  const files = await interopCertificates()
  const read = (path: string) => readFileSync(path, 'utf8')
  const phone = await VirtualPhone.open({
    endpoint: {
      tls: { cert: read(files.engine.cert), key: read(files.engine.key), ca: read(files.ca) },
      rtp: { ports: { from: 32_000, to: 32_099 }, threads: 1 },
      userAgentName: 'phone',
    },
  })
  onTestFinished(() => phone.close())
  return phone
}
