import { once } from 'node:events'
import { createServer } from 'node:net'
import type { EndpointOptions } from '@parley/leg'
import type { DialableTrunk, TrunkDetails, TrunkHealth } from '@parley/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answering, Carriers } from './carrier.fixture.ts'
import type { Finding } from './finding.ts'
import { TrunkChecker } from './trunk-check.ts'

const TO = '+4930222222'
const DAY_MS = 86_400_000
const ACCOUNT: DialableTrunk['auth'] = {
  username: 'account',
  secret: { sealed: Buffer.from('wrong'), context: '' },
}

let carriers: Carriers
let identity: EndpointOptions['tls']
let expired: EndpointOptions['tls']
let checker: TrunkChecker
beforeAll(async () => {
  carriers = await Carriers.open()
  identity = await carriers.certificate()
  expired = await carriers.certificate({ now: Date.now() - 1000 * DAY_MS })
  checker = await TrunkChecker.open({
    tls: { ...identity, ca: `${identity.ca}\n${expired.ca}` },
    userAgentName: 'check',
    overrides: new Map([['trunk.example', [{ host: '127.0.0.1' }]]]),
    rtp: { ports: { from: 23_500, to: 23_999 }, threads: 1, packetIo: 'portable' },
  })
})
afterAll(async () => {
  await checker?.close()
  await carriers?.close()
})

interface Case {
  readonly details?: TrunkDetails
  readonly host?: string
  readonly auth?: DialableTrunk['auth']
  readonly registration?: TrunkHealth['registration']
  /** Default true. */
  readonly calls?: boolean
  /** For a far end that gives no response; default long enough for one on a busy machine. */
  readonly answerMs?: number
}

async function check(given: Case) {
  const { details = {}, host = 'localhost', auth = null, registration = null, calls = true, answerMs = 10_000 } = given
  const reported: Finding[] = []
  const findings = await checker.check({
    trunk: {
      trunk_id: 'carrier',
      name: 'Carrier',
      termination_uri: host,
      details,
      first_number: null,
      service_route: [],
      auth,
    },
    registration,
    sealer: { seal: plain => plain, open: sealed => sealed },
    call: calls ? { from: '+4930111111', to: TO } : null,
    answerMs,
    listenMs: 700,
    onFinding: finding => reported.push(finding),
  })
  expect(reported).toEqual(findings)
  return findings
}

const problemsOf = (findings: readonly Finding[]) => findings.flatMap(({ problem }) => problem ?? [])
const textOf = (findings: readonly Finding[]) => findings.map(({ text }) => text).join('\n')
/** The only problem, which says how it is mended. */
function only(findings: readonly Finding[]): Finding {
  const wrong = findings.filter(({ result }) => result === 'problem')
  expect(wrong, textOf(findings)).toHaveLength(1)
  expect(wrong[0]!.remedy).not.toBe('')
  return wrong[0]!
}
const over = (port: number, details: TrunkDetails = {}): TrunkDetails => ({ port, ...details })
const plain = (port: number, details: TrunkDetails = {}) => over(port, { transport: 'udp', media: 'rtp', ...details })

describe('a trunk that works', () => {
  it('every stage is in order, with audio in both directions', async () => {
    const carrier = await carriers.carrier({ tls: identity })
    const findings = await check({ details: over(carrier.port('tls')) })
    expect(problemsOf(findings), textOf(findings)).toEqual([])
    expect(findings.filter(({ result }) => result === 'ok').map(({ stage }) => stage)).toEqual(
      expect.arrayContaining(['settings', 'dns', 'connection', 'options', 'call', 'audio']),
    )
    expect(textOf(findings)).toContain('Its certificate proves localhost.')
    expect(textOf(findings)).toMatch(/[1-9]\d* packets came in/)
  })

  it('without a number no INVITE is sent, and the check says so', async () => {
    const carrier = await carriers.carrier({
      tls: identity,
      onInvite: () => {
        throw new Error('an INVITE came')
      },
    })
    const findings = await check({ details: over(carrier.port('tls')), calls: false })
    expect(problemsOf(findings)).toEqual([])
    expect(findings.at(-1)).toMatchObject({ stage: 'call', result: 'skipped' })
    expect(findings.at(-1)!.text).toContain('--to NUMBER')
  })

  it('a callee who is busy is no fault of the trunk', async () => {
    const carrier = await carriers.carrier({ tls: identity, onInvite: session => session.reject(486) })
    const findings = await check({ details: over(carrier.port('tls')) })
    expect(problemsOf(findings)).toEqual([])
    expect(findings.at(-1)).toMatchObject({ stage: 'audio', result: 'skipped' })
  })
})

describe('settings', () => {
  it('SRTP without TLS is a contradiction', async () => {
    const port = await carriers.rawCarrier(() => ({ status: 200 }))
    const finding = only(await check({ details: over(port, { transport: 'udp' }) }))
    expect(finding).toMatchObject({ stage: 'settings', problem: 'settings_contradict' })
  })

  it('a password that was deleted is named, and no call is placed', async () => {
    const port = await carriers.rawCarrier(() => ({ status: 200 }))
    const findings = await check({ details: plain(port), auth: { username: 'account', secret: null } })
    expect(only(findings)).toMatchObject({ problem: 'secret_missing' })
    expect(findings.at(-1)).toMatchObject({ stage: 'call', result: 'skipped' })
  })

  it('a registration that failed is a problem', async () => {
    const port = await carriers.rawCarrier(() => ({ status: 200 }))
    const registration = {
      state: 'failed',
      sip_status: 403,
      detail: 'REGISTER answered 403 Forbidden',
      expires_at: null,
      updated_at: '',
    } as const
    const finding = only(await check({ details: plain(port, { register: true }), registration, calls: false }))
    expect(finding).toMatchObject({ problem: 'registration_failed', text: expect.stringContaining('403 Forbidden') })
  })
})

describe('names and connections', () => {
  it('a host name that the DNS does not have', async () => {
    const findings = await check({ host: 'nothing.invalid', details: over(5061) })
    expect(only(findings)).toMatchObject({ stage: 'dns', problem: 'dns_not_found' })
    expect(findings.at(-1)).toMatchObject({ stage: 'call', result: 'skipped' })
  })

  it('a port at which nothing listens', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const { port } = gone.address() as { port: number }
    gone.close()
    expect(only(await check({ details: over(port) }))).toMatchObject({ problem: 'connection_refused' })
  })

  it('a certificate for another name', async () => {
    const carrier = await carriers.carrier({ tls: identity })
    const finding = only(await check({ host: 'trunk.example', details: over(carrier.port('tls')) }))
    expect(finding).toMatchObject({ problem: 'certificate_name', text: expect.stringContaining('trunk.example') })
  })

  it('a certificate whose time is over', async () => {
    const carrier = await carriers.carrier({ tls: expired })
    const finding = only(await check({ details: over(carrier.port('tls')) }))
    expect(finding).toMatchObject({ problem: 'certificate_date', text: expect.stringContaining('expired') })
  })

  it('a certificate of an unknown authority', async () => {
    const carrier = await carriers.carrier({ tls: await carriers.certificate() })
    expect(only(await check({ details: over(carrier.port('tls')) }))).toMatchObject({
      problem: 'certificate_untrusted',
    })
  })

  it('a port that does not speak TLS', async () => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.end('SIP/2.0 400 Bad Request\r\n\r\n')
    }).listen(0, '127.0.0.1')
    carriers.defer(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    expect(only(await check({ details: over(port) }))).toMatchObject({ problem: 'tls_failed' })
  })
})

describe('OPTIONS', () => {
  it('a server that answers nothing', async () => {
    const carrier = await carriers.carrier({ tls: identity, guard: () => ({ action: 'drop' }) })
    // The handshake of a busy machine is over by then.
    const findings = await check({ details: over(carrier.port('tls')), calls: false, answerMs: 2500 })
    expect(only(findings)).toMatchObject({ stage: 'options', problem: 'no_response' })
    expect(textOf(findings)).toContain('the connection is open')
  })

  it('a server that takes no calls now', async () => {
    const port = await carriers.rawCarrier(() => ({ status: 503 }))
    expect(only(await check({ details: plain(port), calls: false }))).toMatchObject({ problem: 'server_unavailable' })
  })

  it.each([401, 403, 404, 405])('a server that refuses OPTIONS with %i is alive', async status => {
    const port = await carriers.rawCarrier(() => ({ status }))
    expect(problemsOf(await check({ details: plain(port), calls: false }))).toEqual([])
  })
})

describe('credentials', () => {
  const challenging = async () => {
    const carrier = await carriers.carrier({
      tls: identity,
      guard: ({ method }) =>
        method === 'INVITE'
          ? { action: 'challenge', realm: 'carrier.example', passwordOf: () => 'right' }
          : { action: 'accept' },
    })
    return carrier.port('tls')
  }

  it('a carrier that wants credentials which the trunk does not have', async () => {
    const finding = only(await check({ details: over(await challenging()) }))
    expect(finding).toMatchObject({ stage: 'call', problem: 'digest_missing' })
    expect(finding.text).toContain('"carrier.example"')
  })

  it('a password that the carrier refuses', async () => {
    const finding = only(await check({ details: over(await challenging()), auth: ACCOUNT }))
    expect(finding).toMatchObject({ problem: 'digest_refused', text: expect.stringContaining('account') })
  })

  it('a realm that may not get the credentials', async () => {
    const details = over(await challenging(), { realms: ['other.example'] })
    const finding = only(await check({ details, auth: ACCOUNT }))
    expect(finding).toMatchObject({ problem: 'digest_realm' })
    expect(finding.remedy).toContain('--realms carrier.example')
  })

  it('an algorithm that is not supported', async () => {
    const challenge = 'Digest realm="carrier.example", nonce="n", algorithm=SHA-512-256'
    const port = await carriers.rawCarrier(({ method }) =>
      method === 'INVITE' ? { status: 401, headers: [['WWW-Authenticate', challenge]] } : { status: 200 },
    )
    expect(only(await check({ details: plain(port), auth: ACCOUNT }))).toMatchObject({ problem: 'digest_algorithm' })
  })
})

describe('refusals of the call', () => {
  it.each([
    [403, 'forbidden'],
    [404, 'number_unknown'],
    [302, 'moved'],
    [500, 'server_unavailable'],
    [400, 'call_failed'],
  ])('the answer %i', async (status, problem) => {
    const warning = '399 carrier "not provisioned"'
    const port = await carriers.rawCarrier(({ method }) =>
      method === 'INVITE' ? { status, headers: [['Warning', warning]] } : { status: 200 },
    )
    const finding = only(await check({ details: plain(port) }))
    expect(finding).toMatchObject({ stage: 'call', problem })
    if (status !== 404 && status !== 302) expect(finding.text).toContain('not provisioned')
  })

  it('the number is shown as it was written for the carrier', async () => {
    const port = await carriers.rawCarrier(({ method }) => ({ status: method === 'INVITE' ? 404 : 200 }))
    const details = plain(port, { number_format_out: 'digits', prefix_out: '00' })
    expect(only(await check({ details })).text).toContain('004930222222')
  })
})

describe('refusals of the media', () => {
  it('a carrier that refuses SRTP', async () => {
    const carrier = await carriers.carrier({ tls: identity, onInvite: answering({ security: 'rtp-only' }) })
    expect(only(await check({ details: over(carrier.port('tls')) }))).toMatchObject({ problem: 'srtp_refused' })
  })

  it('a carrier that answers an offer of SRTP with plain RTP', async () => {
    const sdp = sdpAt(40_000, 'RTP/AVP 0')
    const carrier = await carriers.carrier({
      tls: identity,
      onInvite: session => session.answer({ contentType: 'application/sdp', bytes: Buffer.from(sdp) }),
    })
    expect(only(await check({ details: over(carrier.port('tls')) }))).toMatchObject({ problem: 'srtp_refused' })
  })

  it('a carrier that takes SRTP only', async () => {
    const carrier = await carriers.carrier({ tls: identity, onInvite: answering({ security: 'srtp-required' }) })
    const details = over(carrier.port('tls'), { media: 'rtp' })
    expect(only(await check({ details }))).toMatchObject({ problem: 'srtp_required' })
  })

  it('a carrier that has none of the codecs', async () => {
    const carrier = await carriers.carrier({ tls: identity, onInvite: answering({ codecs: ['PCMU'] }) })
    const finding = only(await check({ details: over(carrier.port('tls'), { codecs: ['G722'] }) }))
    expect(finding).toMatchObject({ problem: 'codec_refused', text: expect.stringContaining('G722') })
  })

  it('a carrier that refuses every offer', async () => {
    const carrier = await carriers.carrier({ tls: identity, onInvite: session => session.reject(488) })
    expect(only(await check({ details: over(carrier.port('tls')) }))).toMatchObject({
      problem: 'media_refused',
      text: expect.stringContaining('SRTP (AES_CM_128_HMAC_SHA1_80, AES_CM_128_HMAC_SHA1_32) with PCMU'),
    })
  })
})

function sdpAt(port: number, media: string, more = ''): string {
  return `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} ${media}\r\n${more}`
}

/** An RTP packet with 20 ms of PCMU. */
function rtpPacket(sequence: number): Buffer {
  const packet = Buffer.alloc(172, 0xff)
  packet.writeUInt16BE(0x8000, 0)
  packet.writeUInt16BE(sequence, 2)
  packet.writeUInt32BE(sequence * 160, 4)
  packet.writeUInt32BE(7, 8)
  return packet
}

/** Sends packets every 20 ms to the port of the offer. */
function sendTo(port: number, send: (packet: Buffer, port: number) => void): void {
  let sequence = 0
  const timer = setInterval(() => send(rtpPacket(++sequence), port), 20)
  carriers.defer(() => clearInterval(timer))
}

const offeredPort = (body: Uint8Array) => Number(/^m=audio (\d+)/m.exec(Buffer.from(body).toString())?.[1])

describe('one-way audio', () => {
  it('a carrier that sends no audio', async () => {
    const sink = await carriers.socket('127.0.0.1')
    const port = await carriers.rawCarrier(({ method }) =>
      method === 'INVITE' ? { status: 200, sdp: sdpAt(sink.address().port, 'RTP/AVP 0') } : { status: 200 },
    )
    const finding = only(await check({ details: plain(port) }))
    expect(finding).toMatchObject({ stage: 'audio', problem: 'no_audio_received' })
    expect(finding.text).toMatch(/send to 127\.0\.0\.1:23\d{3}/)
  })

  it('audio from an address that the carrier did not name', async () => {
    const sink = await carriers.socket('127.0.0.1')
    const elsewhere = await carriers.socket('127.0.0.9')
    const port = await carriers.rawCarrier(({ method, body }) => {
      if (method !== 'INVITE') return { status: 200 }
      sendTo(offeredPort(body), (packet, to) => elsewhere.send(packet, to, '127.0.0.1'))
      return { status: 200, sdp: sdpAt(sink.address().port, 'RTP/AVP 0') }
    })
    expect(only(await check({ details: plain(port) }))).toMatchObject({ problem: 'media_from_elsewhere' })
  })

  it('audio that is not encrypted with the key of the answer', async () => {
    const media = await carriers.socket('127.0.0.1')
    const key = Buffer.alloc(30, 5).toString('base64')
    const carrier = await carriers.carrier({
      tls: identity,
      onInvite: session => {
        const crypto = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}\r\n`
        const sdp = sdpAt(media.address().port, 'RTP/SAVP 0', crypto)
        session.answer({ contentType: 'application/sdp', bytes: Buffer.from(sdp) })
        sendTo(offeredPort(session.invite.body), (packet, to) => media.send(packet, to, '127.0.0.1'))
      },
    })
    expect(only(await check({ details: over(carrier.port('tls')) }))).toMatchObject({ problem: 'srtp_keys_differ' })
  })

  it('a far end that reports that our audio does not arrive', async () => {
    const media = await carriers.socket('127.0.0.1')
    const control = await carriers.socket('127.0.0.1')
    let rtcpPort = 0
    media.on('message', packet => control.send(receiverReport(packet.readUInt32BE(8)), rtcpPort, '127.0.0.1'))
    const port = await carriers.rawCarrier(({ method, body }) => {
      if (method !== 'INVITE') return { status: 200 }
      const to = offeredPort(body)
      rtcpPort = to + 1
      sendTo(to, (packet, rtp) => media.send(packet, rtp, '127.0.0.1'))
      const rtcp = `a=rtcp:${control.address().port}\r\n`
      return { status: 200, sdp: sdpAt(media.address().port, 'RTP/AVP 0', rtcp) }
    })
    expect(only(await check({ details: plain(port) }))).toMatchObject({ problem: 'no_audio_sent' })
  })
})

/** RFC 3550 section 6.4.2: nine of ten packets of `ssrc` were lost. */
function receiverReport(ssrc: number): Buffer {
  const report = Buffer.alloc(32)
  report.writeUInt32BE(0x81c90007, 0)
  report.writeUInt32BE(7, 4)
  report.writeUInt32BE(ssrc, 8)
  report.writeUInt8(230, 12)
  report.writeUIntBE(45, 13, 3)
  report.writeUInt32BE(50, 16)
  return report
}
