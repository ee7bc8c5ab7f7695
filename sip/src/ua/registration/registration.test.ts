import { describe, expect, it } from 'vitest'
import { HeaderList } from '../../message/header-list.ts'
import type { NameAddr, SipRequest } from '../../message/message.ts'
import { createResponse } from '../../message/message-factory.ts'
import { serialiseUri } from '../../message/uri.ts'
import { Pair, sipUri } from '../testing/pair.ts'
import { type Reply, ScriptedPeer } from '../testing/scripted-peer.ts'
import type { RegistrationOptions, RegistrationStatus } from './registration.ts'

const INSTANCE = '00000000-0000-4000-8000-000000000001'

/** A success response to a STUN binding request that came from this address, port 5060 (RFC 8489 section 14.2). */
function seenAs(request: Uint8Array, address: string): Uint8Array {
  const mask = request.subarray(4, 8)
  const masked = address.split('.').map((part, i) => Number(part) ^ mask[i]!)
  const port = [(5060 >> 8) ^ mask[0]!, (5060 & 255) ^ mask[1]!]
  return Uint8Array.from([1, 1, 0, 12, ...request.subarray(4, 20), 0, 0x20, 0, 8, 0, 1, ...port, ...masked])
}

const contactOf = ({ contact }: SipRequest): NameAddr => (contact as readonly NameAddr[])[0]!

/** A user agent that registers at a scripted registrar. */
class Registering {
  readonly pair = new Pair({ transport: 'tls' })
  readonly registrar = new ScriptedPeer(this.pair.network, '10.0.0.9', 'sbc.test')
  readonly changes: RegistrationStatus[] = []
  readonly registration
  /** The response to each REGISTER; default: 200 with its Expires. */
  respond: (request: SipRequest) => { readonly status: number; readonly reply: Reply } = request => ({
    status: 200,
    reply: { headers: [['Expires', request.headers.get('Expires') ?? '']] },
  })

  constructor(options: Partial<RegistrationOptions> = {}) {
    this.registrar.onMessage = (message, flow) => {
      if (message.kind !== 'request' || message.method !== 'REGISTER') return
      const { status, reply } = this.respond(message)
      this.registrar.reply({ request: message, flow }, status, reply)
    }
    this.registration = this.pair.a.ua.register({
      registrar: { ...sipUri('', 'sbc.test', 'tls'), user: undefined },
      address: sipUri('account', 'sbc.test', 'tls'),
      contactUser: 'secret-token',
      instanceId: INSTANCE,
      onChange: status => this.changes.push(status),
      ...options,
    })
    this.pair.time.advance(200)
  }

  get requests(): SipRequest[] {
    return this.registrar.requests.filter(({ method }) => method === 'REGISTER')
  }

  get intervals(): (string | undefined)[] {
    return this.requests.map(({ headers }) => headers.get('Expires'))
  }
}

describe('registration as a client (RFC 3261 section 10)', () => {
  it('a REGISTER names the registrar, the address of record and our Contact with its instance', () => {
    const { requests, registration } = new Registering()
    const [request] = requests
    expect(serialiseUri(request!.uri)).toBe('sip:sbc.test;transport=tls')
    for (const { uri } of [request!.to, request!.from]) expect(uri).toMatchObject({ user: 'account', host: 'sbc.test' })
    const contact = contactOf(request!)
    expect(contact).toMatchObject({ uri: { user: 'secret-token', host: 'a.test' } })
    expect(Object.fromEntries(contact.params)).toEqual({
      '+sip.instance': `<urn:uuid:${INSTANCE}>`,
      'reg-id': '1',
    })
    expect(request!.headers.get('Supported')).toContain('outbound')
    expect(registration.status).toMatchObject({ state: 'registered', sipStatus: 200, flow: { transport: 'tls' } })
  })

  it('a registration is refreshed at half the granted time on the same connection, with one Call-ID and rising CSeq numbers', () => {
    const { pair, registrar } = new Registering()
    const first = registrar.last('REGISTER')
    pair.time.advance(299_000)
    expect(registrar.methods()).toEqual(['REGISTER'])
    pair.time.advance(2000)
    const second = registrar.last('REGISTER')
    expect(registrar.methods()).toEqual(['REGISTER', 'REGISTER'])
    expect(second.request.callId).toBe(first.request.callId)
    expect(second.request.cseq.sequence).toBe(first.request.cseq.sequence + 1)
    expect(second.flow.id).toBe(first.flow.id)
  })

  it('the expires parameter of our Contact counts before the Expires header', () => {
    const registering = new Registering()
    const { registrar } = registering
    registrar.onMessage = (message, flow) => {
      if (message.kind !== 'request') return
      const own = { ...contactOf(message), params: new Map([['expires', '60']]) }
      const other = { ...own, uri: sipUri('other', 'elsewhere.test', 'tls'), params: new Map([['expires', '9']]) }
      const headers = HeaderList.empty.with('Expires', '3600')
      registrar.sendMessage(createResponse(message, 200, { toTag: 'r', contact: [other, own], headers }), { flow })
    }
    registering.pair.time.advance(300_000)
    const count = registering.requests.length
    registering.pair.time.advance(120_000)
    expect(registering.requests.length - count).toBe(4)
  })

  it('a 423 makes it request the interval of Min-Expires', () => {
    const registering = new Registering({ expiresS: 60 })
    registering.respond = request =>
      Number(request.headers.get('Expires')) < 900
        ? { status: 423, reply: { headers: [['Min-Expires', '900']] } }
        : { status: 200, reply: { headers: [['Expires', '900']] } }
    registering.pair.time.advance(31_000)
    expect(registering.intervals).toEqual(['60', '60', '900'])
    expect(registering.registration.status.state).toBe('registered')
  })

  it('a challenge is answered with the credentials of the trunk', () => {
    const registering = new Registering({ credentials: { username: 'account', password: 'secret' } })
    registering.respond = request =>
      request.headers.get('Authorization') === undefined
        ? { status: 401, reply: { headers: [['WWW-Authenticate', 'Digest realm="sbc.test", nonce="n1", qop="auth"']] } }
        : { status: 200, reply: { headers: [['Expires', '600']] } }
    registering.pair.time.advance(301_000)
    expect(registering.requests.at(-1)!.headers.get('Authorization')).toContain('username="account"')
    expect(registering.registration.status).toMatchObject({ state: 'registered', sipStatus: 200 })
  })

  it('a challenge of another realm than those of the trunk gets no credentials', () => {
    const credentials = { username: 'account', password: 'secret', realms: ['carrier.test'] }
    const registering = new Registering({ credentials })
    registering.respond = () => ({
      status: 401,
      reply: { headers: [['WWW-Authenticate', 'Digest realm="elsewhere.test", nonce="n1", qop="auth"']] },
    })
    registering.pair.time.advance(301_000)
    expect(registering.requests.every(({ headers }) => headers.get('Authorization') === undefined)).toBe(true)
    expect(registering.registration.status.sipStatus).toBe(401)
  })

  it('a refused registration shows its status and is tried again after 30 s', () => {
    const registering = new Registering()
    registering.respond = () => ({ status: 403, reply: {} })
    registering.pair.time.advance(600_000)
    expect(registering.registration.status).toMatchObject({ state: 'failed', sipStatus: 403, flow: undefined })
    const count = registering.requests.length
    registering.respond = () => ({ status: 200, reply: { headers: [['Expires', '600']] } })
    registering.pair.time.advance(30 * 60_000)
    expect(registering.requests.length).toBeGreaterThan(count)
    expect(registering.registration.status.state).toBe('registered')
  })

  it('the Service-Route of the registrar is reported in its order (RFC 3608)', () => {
    const registering = new Registering()
    registering.respond = () => ({
      status: 200,
      reply: {
        headers: [
          ['Expires', '600'],
          ['Service-Route', '<sip:p2.test;lr>, <sip:home.test;lr>'],
        ],
      },
    })
    registering.pair.time.advance(301_000)
    const { serviceRoute } = registering.registration.status
    expect(serviceRoute.map(({ uri }) => serialiseUri(uri))).toEqual(['sip:p2.test;lr', 'sip:home.test;lr'])
  })

  it('a registration is made anew over another connection when the registrar closes its own', () => {
    const registering = new Registering()
    const { pair, registrar } = registering
    pair.time.advance(60_000)
    const { flow } = registrar.last('REGISTER')
    registrar.transport.submit({ type: 'close-flow', flow })
    pair.time.advance(10_000)
    expect(registering.requests).toHaveLength(2)
    expect(registrar.last('REGISTER').flow.id).not.toBe(flow.id)
    expect(registering.registration.status.state).toBe('registered')
  })

  it('a registration is removed when it is stopped', async () => {
    const registering = new Registering()
    const stopped = registering.registration.stop()
    registering.pair.time.advance(200)
    await stopped
    expect(registering.intervals).toEqual(['600', '0'])
    expect(registering.registration.status.state).toBe('unregistered')
    registering.pair.time.advance(3_600_000)
    expect(registering.requests).toHaveLength(2)
  })

  it('a call over its connection reaches the guard on the flow that the registration reports', () => {
    const registering = new Registering()
    const { pair, registrar, registration } = registering
    const invite = [
      'INVITE sip:secret-token@a.test;transport=tls SIP/2.0',
      'Via: SIP/2.0/TLS sbc.test;branch=z9hG4bKin1',
      'Max-Forwards: 70',
      'From: <sip:+4930111@sbc.test>;tag=f1',
      'To: <sip:+4930222@sbc.test>',
      'Call-ID: inbound-1',
      'CSeq: 1 INVITE',
      'Contact: <sip:sbc.test;transport=tls>',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n')
    registrar.sendText(invite, { flow: registrar.last('REGISTER').flow })
    pair.time.advance(200)
    expect(pair.a.calls[0]?.session.flow?.id).toBe(registration.status.flow?.id)
  })

  it('a user agent that is closed leaves no timer of a registration behind', async () => {
    const registering = new Registering()
    const { pair } = registering
    const closed = pair.a.ua.close()
    pair.time.advance(40_000)
    await closed
    pair.time.advance(3_600_000)
    expect(registering.requests).toHaveLength(1)
  })
})

describe('keep-alives of a registration (RFC 5626 section 4.4)', () => {
  /** A registration over `transport`, and what it sent in two minutes besides SIP messages: when, in ms, and which bytes. */
  function keepAlives(
    transport: 'udp' | 'tls',
    headers: readonly (readonly [string, string])[],
    options: Partial<RegistrationOptions> = {},
  ) {
    const registrar = { ...sipUri('', 'sbc.test', transport), user: undefined }
    const registering = new Registering({ registrar, ...options })
    const { pair } = registering
    registering.respond = () => ({ status: 200, reply: { headers: [['Expires', '600'], ...headers] } })
    const sent: { readonly at: number; readonly bytes: Buffer }[] = []
    const asked: number[] = []
    registering.registrar.onStun = (bytes, flow) =>
      registering.registrar.sendBytes(seenAs(bytes, '192.0.2.1'), { flow })
    const { submit } = pair.a.transport
    pair.a.transport.submit = output => {
      if (output.type === 'keep-within') asked.push(output.withinMs)
      if (output.type === 'send' && output.bytes.length <= 20)
        sent.push({ at: pair.time.now(), bytes: Buffer.from(output.bytes) })
      submit.call(pair.a.transport, output)
    }
    // The refresh brings the headers.
    pair.time.advance(301_000)
    const from = pair.time.now()
    sent.length = 0
    pair.time.advance(120_000)
    const gaps = sent.map(({ at }, i) => at - (sent[i - 1]?.at ?? from))
    return { registering, sent, asked, gaps }
  }

  it('over UDP the path is kept by CRLF CRLF every 23 to 29 s', () => {
    const { sent, gaps } = keepAlives('udp', [])
    expect(sent.length).toBeGreaterThanOrEqual(4)
    for (const { bytes } of sent) expect(bytes.toString()).toBe('\r\n\r\n')
    for (const gap of gaps.slice(1)) {
      expect(gap).toBeGreaterThanOrEqual(23_200)
      expect(gap).toBeLessThanOrEqual(29_000)
    }
  })

  it('over UDP a registrar that keeps flows gets STUN binding requests, as often as its Flow-Timer asks', () => {
    const { sent, gaps } = keepAlives('udp', [
      ['Require', 'path, outbound'],
      ['Flow-Timer', '10'],
    ])
    expect(sent.length).toBeGreaterThanOrEqual(11)
    for (const { bytes } of sent) expect(bytes.toString('hex')).toMatch(/^000100002112a442[0-9a-f]{24}$/)
    for (const gap of gaps.slice(1)) {
      expect(gap).toBeGreaterThanOrEqual(8000)
      expect(gap).toBeLessThanOrEqual(10_000)
    }
  })

  it('a registrar that answers STUN with the same address again and again is not registered at between two refreshes', () => {
    const { registering, sent } = keepAlives('udp', [['Require', 'outbound']])
    const before = registering.requests.length
    registering.pair.time.advance(170_000)
    expect(registering.requests).toHaveLength(before)
    expect(sent.length).toBeGreaterThanOrEqual(10)
    expect(registering.registration.status.state).toBe('registered')
  })

  it('a registrar that sees us at another address is registered at again at once', () => {
    const { registering } = keepAlives('udp', [['Require', 'outbound']])
    const { registrar, registration, pair } = registering
    const before = registering.requests.length
    registrar.onStun = (bytes, flow) => registrar.sendBytes(seenAs(bytes, '192.0.2.2'), { flow })
    pair.time.advance(30_000)
    expect(registering.requests).toHaveLength(before + 1)
    expect(registering.changes.map(({ detail }) => detail)).toContain('the registrar sees us at another address')
    expect(registration.status.state).toBe('registered')
    // The new address is the one that the binding was made from.
    pair.time.advance(60_000)
    expect(registering.requests).toHaveLength(before + 1)
  })

  it('a registrar that stops answering STUN is asked seven times in 39.5 s, then registered at again', () => {
    const { registering, sent } = keepAlives('udp', [['Require', 'outbound']])
    const { registrar, pair } = registering
    const before = registering.requests.length
    registrar.onStun = () => {}
    sent.length = 0
    pair.time.advance(29_000 + 39_500 + 200)
    const [first, ...more] = sent.slice(0, 7)
    expect(more.map(({ at }) => at - first!.at)).toEqual([500, 1500, 3500, 7500, 15_500, 31_500])
    for (const { bytes } of more) expect(bytes).toEqual(first!.bytes)
    expect(registering.requests).toHaveLength(before + 1)
    expect(registering.changes.map(({ detail }) => detail)).toContain('the registrar stopped answering keep-alives')
  })

  it('a registrar that never answered STUN is not registered at again for it', () => {
    const registering = new Registering({ registrar: { ...sipUri('', 'sbc.test', 'udp'), user: undefined } })
    registering.respond = () => ({
      status: 200,
      reply: {
        headers: [
          ['Expires', '600'],
          ['Require', 'outbound'],
        ],
      },
    })
    registering.pair.time.advance(310_000)
    expect(registering.requests).toHaveLength(2)
    registering.pair.time.advance(280_000)
    expect(registering.requests).toHaveLength(2)
  })

  it('a registrar that answers STUN with an error is registered at again', () => {
    const { registering } = keepAlives('udp', [['Require', 'outbound']])
    const { registrar, pair } = registering
    const before = registering.requests.length
    registrar.onStun = (bytes, flow) =>
      registrar.sendBytes(Uint8Array.from([1, 0x11, 0, 0, ...bytes.subarray(4, 20)]), { flow })
    pair.time.advance(30_000)
    expect(registering.requests).toHaveLength(before + 1)
  })

  it("an answer from elsewhere than the registrar, or with another transaction, says nothing of the registration's path", () => {
    const { registering } = keepAlives('udp', [['Require', 'outbound']])
    const { registrar, pair } = registering
    const stranger = new ScriptedPeer(pair.network, '10.0.0.66', 'stranger.test')
    const before = registering.requests.length
    registrar.onStun = (bytes, flow) => {
      stranger.sendBytes(seenAs(bytes, '192.0.2.66'), { address: pair.a.transport.address, transport: 'udp' })
      const other = Uint8Array.from(bytes)
      other[19]! ^= 1
      registrar.sendBytes(seenAs(other, '192.0.2.66'), { flow })
      registrar.sendBytes(seenAs(bytes, '192.0.2.1'), { flow })
    }
    pair.time.advance(170_000)
    expect(registering.requests).toHaveLength(before)
  })

  it('a registrar cannot ask for more than a keep-alive every 4 s', () => {
    expect(keepAlives('udp', [['Flow-Timer', '0']]).sent.length).toBeLessThanOrEqual(30)
  })

  it('a connection gets its keep-alives as often as Flow-Timer asks', () => {
    expect(keepAlives('tls', [['Flow-Timer', '15']])).toMatchObject({ asked: [15_000], sent: [] })
    expect(keepAlives('tls', [])).toMatchObject({ asked: [], sent: [] })
  })

  it('the setting of the trunk makes keep-alives more frequent, and so does a Flow-Timer that is shorter', () => {
    const own = { keepAliveMs: 10_000 }
    expect(keepAlives('tls', [], own).asked).toEqual([10_000])
    expect(keepAlives('tls', [['Flow-Timer', '8']], own).asked).toEqual([8000])
    const { gaps } = keepAlives('udp', [], own)
    expect(gaps.length).toBeGreaterThanOrEqual(11)
    expect(Math.max(...gaps.slice(1))).toBeLessThanOrEqual(10_000)
  })

  it('nothing is sent after the registration has ended', async () => {
    const { registering, sent } = keepAlives('udp', [])
    const stopped = registering.registration.stop()
    registering.pair.time.advance(1000)
    await stopped
    sent.length = 0
    registering.pair.time.advance(300_000)
    expect(sent).toEqual([])
  })
})
