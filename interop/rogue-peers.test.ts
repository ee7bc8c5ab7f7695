import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMITS_WHEN_LATE, type DialRequest, Engine, testPlan, testRouter } from '@parley/engine/testing'
import { ParleyError } from '@parley/kernel'
import { Endpoint, ensureLocalCertificate, parseUri, type SipUri, type TlsIdentity } from '@parley/leg'
import { VirtualPhone } from '@parley/phone'
import type { TextToSpeech } from '@parley/providers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ENGINE_RTP_PORTS } from './ports.ts'
import { type RawRequest, RawSipPeer, rawTlsClient, response } from './raw-sip-peer.ts'

const ATTACKER = '127.0.0.2'
const TOKEN = 'rogue234567token'
const CREDENTIALS = { username: 'trunkuser', password: 'secret' }
/** Time in which an unwanted request would arrive: longer than the first retransmission. */
const SILENCE_MS = 700

const ANSWER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 40000 RTP/AVP 0',
  '',
].join('\r\n')

const silence: TextToSpeech = {
  id: 'test/silence',
  languages: ['en'],
  readiness: async () => null,
  async *synthesize() {
    yield { samples: new Int16Array(8000), words: [] }
  },
  close: async () => {},
}

let home: string
let tls: TlsIdentity

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-rogue.'))
  tls = await ensureLocalCertificate(home, { names: ['localhost'], addresses: ['127.0.0.1'] })
})
afterAll(() => rm(home, { recursive: true, force: true }))

const endpointOptions = () => ({
  tls,
  rtp: { ports: ENGINE_RTP_PORTS, threads: 1 },
  userAgentName: 'Parley',
})

async function openEngine(): Promise<Engine> {
  const engine = await Engine.start({
    ...ADMITS_WHEN_LATE,
    endpoint: endpointOptions(),
    router: testRouter([{ token: TOKEN, security: 'srtp-required', plan: () => testPlan({ voice: silence }) }]),
  })
  onTestFinished(() => engine.close())
  return engine
}

function dialling(uri: string, change: Partial<DialRequest> = {}): DialRequest {
  return {
    uri: parseUri(uri) as SipUri,
    from: { displayName: undefined, uri: parseUri('sip:+15550002222@localhost') as SipUri, params: new Map() },
    security: 'rtp-only',
    ringTimeoutMs: 20_000,
    credentials: CREDENTIALS,
    plan: testPlan({ voice: silence }),
    ...change,
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

const challenge = (realm: string, nonce = realm) =>
  `Digest realm="${realm}", nonce="${nonce}", algorithm=MD5, qop="auth"`
const proves = ({ text }: RawRequest) => /^(Proxy-)?Authorization:/m.test(text)

describe.each(['udp', 'tcp'] as const)('the password of a trunk, over %s', transport => {
  it('the engine proves the password to a trunk that challenges the call', async () => {
    const engine = await openEngine()
    const trunk = await RawSipPeer.open()
    trunk.onRequest = request => {
      if (request.method !== 'INVITE') return
      if (proves(request)) request.reply(486)
      else request.reply(407, [`Proxy-Authenticate: ${challenge('trunk')}`])
    }
    const call = await engine.dial(dialling(trunk.uri(transport)))
    expect((await call.report).run.outcome?.kind).toBe('busy')
    expect(trunk.requests.filter(({ method }) => method === 'INVITE').map(proves)).toEqual([false, true])
  })

  it('a peer that answers in place of the trunk gets no proof of the password', async () => {
    const engine = await openEngine()
    const trunk = await RawSipPeer.open()
    const attacker = await RawSipPeer.open(ATTACKER)
    const invited = trunk.until(() => trunk.requests.length > 0)
    const call = await engine.dial(dialling(trunk.uri(transport)))
    expect(await invited).toBe(true)
    const [invite] = trunk.requests
    for (const status of [401, 407])
      attacker.send(
        response(invite!.text, status, [
          `WWW-Authenticate: ${challenge('a')}`,
          `Proxy-Authenticate: ${challenge('b')}`,
        ]),
        engine.endpoint.port('udp'),
      )
    await pause(SILENCE_MS)
    for (const request of trunk.requests) request.reply(486)
    await call.report
    expect(attacker.received).not.toContain('Authorization')
    expect(attacker.methods()).not.toContain('INVITE')
    expect(trunk.received).not.toContain('Authorization')
  })

  it.each([300, 301, 302, 305, 380])(
    'a %i redirection brings its target neither a call nor a proof of the password',
    async status => {
      const engine = await openEngine()
      const trunk = await RawSipPeer.open()
      const attacker = await RawSipPeer.open(ATTACKER)
      attacker.onRequest = request => request.reply(401, [`WWW-Authenticate: ${challenge('attacker')}`])
      trunk.onRequest = request => {
        if (request.method === 'INVITE') request.reply(status, [`Contact: <${attacker.uri(transport)}>`])
      }
      const call = await engine.dial(dialling(trunk.uri(transport)))
      const { run } = await call.report
      expect(run).toMatchObject({ state: 'failed', outcome: { detail: 'moved', sip_status: status } })
      await pause(SILENCE_MS)
      expect(attacker.received).toBe('')
      expect(trunk.received).not.toContain('Authorization')
    },
  )

  it('a remote target (Contact) that challenges gets no digest response, even after the trunk got one', async () => {
    const engine = await openEngine()
    const trunk = await RawSipPeer.open()
    const attacker = await RawSipPeer.open(ATTACKER)
    trunk.onRequest = request => {
      // Over TCP the dialog stays on the trunk's own connection.
      if (request.method === 'BYE') return request.reply(200)
      if (request.method !== 'INVITE') return
      if (!proves(request)) return request.reply(407, [`Proxy-Authenticate: ${challenge('trunk')}`])
      request.reply(200, [`Contact: <${attacker.uri(transport)}>`], { body: ANSWER })
    }
    let byes = 0
    attacker.onRequest = request => {
      if (request.method !== 'BYE') return
      // A challenged BYE is sent again until it is confirmed.
      if (++byes > 3) return request.reply(481)
      request.reply(401, [`WWW-Authenticate: ${challenge('trunk')}`, `WWW-Authenticate: ${challenge('attacker')}`])
    }
    const call = await engine.dial(dialling(trunk.uri(transport)))
    call.leg.onEvent(event => {
      if (event.type === 'answered') call.cancel()
    })
    await call.report
    const seen = [...attacker.requests, ...trunk.requests.filter(({ method }) => method !== 'INVITE')]
    expect(seen.map(({ method }) => method)).toContain('BYE')
    expect(attacker.received).not.toContain('uthorization')
  })

  it('a peer that challenges again and again with new realms and nonces gets a bounded number of answers', async () => {
    const engine = await openEngine()
    const trunk = await RawSipPeer.open()
    const attacker = await RawSipPeer.open(ATTACKER)
    let count = 0
    trunk.onRequest = request => {
      if (request.method !== 'INVITE') return
      count++
      const value = challenge(count === 1 ? 'trunk' : `${attacker.address}-${count}`, `n${count}`)
      const stale = `${value}, stale=true, domain="${attacker.uri(transport)}"`
      request.reply(count % 2 === 0 ? 401 : 407, [`WWW-Authenticate: ${stale}`, `Proxy-Authenticate: ${stale}`])
    }
    const call = await engine.dial(dialling(trunk.uri(transport)))
    expect((await call.report).run.outcome?.detail).toBe('trunk_auth_failed')
    expect(count).toBeLessThanOrEqual(5)
    expect(attacker.received).toBe('')
  })
})

describe('replayed digest credentials', () => {
  function credentials(method: string, nonce: string, nc: string): string {
    const md5 = (text: string) => createHash('md5').update(text).digest('hex')
    const uri = 'sip:endpoint@localhost'
    const proof = md5(`${md5('u:r:p')}:${nonce}:${nc}:c:auth:${md5(`${method}:${uri}`)}`)
    return `Authorization: Digest username="u", realm="r", nonce="${nonce}", uri="${uri}", response="${proof}", algorithm=MD5, cnonce="c", qop=auth, nc=${nc}`
  }

  it('credentials with a used or lower nonce count, another method or a foreign nonce are refused', async () => {
    const endpoint = await Endpoint.open({
      ...endpointOptions(),
      guard: () => ({ action: 'challenge', realm: 'r', passwordOf: user => (user === 'u' ? 'p' : undefined) }),
      onInvite: session => session.reject(486),
    })
    onTestFinished(() => endpoint.close())
    const peer = await rawTlsClient(endpoint.port('tls'), tls.ca)
    let serial = 0
    const ask = async (method: string, line?: string): Promise<{ status: number; text: string }> => {
      const from = peer.received().length
      serial++
      const lines = [
        `${method} sip:endpoint@localhost SIP/2.0`,
        `Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bKreplay${serial}`,
        'Max-Forwards: 70',
        'From: <sip:u@localhost>;tag=x',
        'To: <sip:endpoint@localhost>',
        `Call-ID: replay-${serial}`,
        `CSeq: ${serial} ${method}`,
        'Contact: <sip:u@127.0.0.1:9;transport=tls>',
        ...(line === undefined ? [] : [line]),
        'Content-Length: 0',
      ]
      peer.write(`${lines.join('\r\n')}\r\n\r\n`)
      const text = () =>
        peer
          .received()
          .slice(from)
          .replace(/^SIP\/2\.0 1\d\d [\s\S]*?\r\n\r\n/, '')
      for (let i = 0; i < 200 && !text().includes('\r\n\r\n'); i++) await pause(10)
      return { status: Number(text().slice(8, 11)), text: text() }
    }
    const first = await ask('OPTIONS')
    const nonce = /nonce="([^"]+)"/.exec(first.text)?.[1] ?? ''
    const answered: number[] = [first.status]
    for (const [method, line] of [
      ['OPTIONS', credentials('OPTIONS', nonce, '00000001')],
      ['OPTIONS', credentials('OPTIONS', nonce, '00000001')],
      ['OPTIONS', credentials('OPTIONS', nonce, '00000003')],
      ['OPTIONS', credentials('OPTIONS', nonce, '00000002')],
      ['INVITE', credentials('OPTIONS', nonce, '00000004')],
      ['INVITE', credentials('INVITE', nonce, '00000003')],
      ['OPTIONS', credentials('OPTIONS', `${nonce}x`, '00000005')],
      ['INVITE', credentials('INVITE', nonce, '00000006')],
    ] as const)
      answered.push((await ask(method, line)).status)
    expect(answered).toEqual([401, 200, 401, 200, 401, 401, 401, 401, 486])
  })
})

describe('a caller that sends REFER', () => {
  it('a REFER from a caller is refused with 403: no call is placed, and the call goes on', async () => {
    const engine = await openEngine()
    const attacker = await RawSipPeer.open(ATTACKER)
    const phone = await VirtualPhone.open({ endpoint: { ...endpointOptions(), userAgentName: 'phone' } })
    onTestFinished(() => phone.close())
    const call = await phone.call(`sip:${TOKEN}@127.0.0.1:${engine.endpoint.port('tls')};transport=tls`)
    await call.waitFor('answered', 60_000)
    call.leg.transfer(parseUri(attacker.uri()) as SipUri)
    const { taken, receipt } = await call.waitFor('transfer-result', 60_000)
    expect({ taken, status: receipt.referStatus }).toEqual({ taken: false, status: 403 })
    await pause(SILENCE_MS)
    expect(attacker.received).toBe('')
    expect([call.leg.state, engine.calls.size]).toEqual(['active', 1])
  })
})

describe('hostile strings in a dial request', () => {
  const hostile = fc.oneof(
    fc
      .tuple(
        fc.string({ maxLength: 8 }),
        fc.constantFrom('\r\n', '\n', '\r', '\0', '%0d%0a', '"\r\n', '>\r\n'),
        fc.constantFrom('Injected: yes', '\r\nINVITE sip:x SIP/2.0'),
      )
      .map(parts => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  const change = fc.record(
    {
      display: hostile,
      caller: hostile,
      number: hostile,
      parameter: hostile,
      trunk: hostile,
      username: hostile,
      password: hostile,
    },
    { requiredKeys: [] },
  )

  it('a hostile string adds no header line: dialling gives a typed error or a well-formed INVITE', async () => {
    const engine = await openEngine()
    const trunk = await RawSipPeer.open()
    trunk.onRequest = request => {
      if (request.method !== 'INVITE') return
      if (proves(request)) request.reply(486)
      else request.reply(407, [`Proxy-Authenticate: ${challenge('trunk', request.text.length.toString())}`])
    }
    let refused = 0
    let dialled = 0
    await fc.assert(
      fc.asyncProperty(change, async strings => {
        const plain = dialling(trunk.uri())
        const { display, caller, number, parameter, trunk: name, username, password } = strings
        try {
          const call = await engine.dial({
            ...plain,
            uri: {
              ...plain.uri,
              ...(number !== undefined && { user: number }),
              ...(parameter !== undefined && { params: new Map([...plain.uri.params, ['x', parameter]]) }),
            },
            from: {
              ...plain.from,
              displayName: display,
              uri: { ...plain.from.uri, ...(caller !== undefined && { user: caller }) } as SipUri,
            },
            credentials: { username: username ?? 'u', password: password ?? 'p' },
            ...(name !== undefined && { trunk: { name, callsPerSecond: 1000 } }),
          })
          expect((await call.report).run.outcome?.kind).toBe('busy')
          dialled++
        } catch (error) {
          if (!(error instanceof ParleyError)) throw error
          refused++
        }
      }),
      { numRuns: 150, seed: 20261121 },
    )
    expect(refused).toBeGreaterThan(20)
    expect(dialled).toBeGreaterThan(20)
    for (const { text } of trunk.requests) {
      const head = text.slice(0, text.indexOf('\r\n\r\n')).split(/\r\n|[\r\n]/)
      for (const line of head.slice(1)) expect(line).toMatch(/^[A-Z][A-Za-z-]+: /)
      expect(head.filter(line => /^(Injected|INVITE sip:x)/.test(line))).toEqual([])
    }
    expect(engine.calls.size).toBe(0)
    expect(engine.endpoint.media.describe()).toContain('0 session(s)')
  })
})
