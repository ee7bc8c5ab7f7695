import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureLocalCertificate, type InviteSession, parseIpNetwork, parseUri, type SipUri } from '@parley/sip'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dialLeg, receiveLeg } from '../connect.ts'
import { Endpoint, type EndpointOptions } from './endpoint.ts'

let home: string
const endpoints: Endpoint[] = []
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-endpoint-'))
})
afterEach(() => Promise.all(endpoints.splice(0).map(endpoint => endpoint.close())))
afterAll(() => rm(home, { recursive: true }))

async function open(
  options: Partial<EndpointOptions> & { onInvite?: (session: InviteSession) => void },
): Promise<Endpoint> {
  const endpoint = await Endpoint.open({
    tls: await ensureLocalCertificate(home),
    userAgentName: 'test',
    guard: () => ({ action: 'accept' }),
    onInvite: session => session.reject(486),
    ...options,
    rtp: { ports: { from: 21_000, to: 21_999 }, threads: 1, packetIo: 'portable', ...options.rtp },
  })
  endpoints.push(endpoint)
  return endpoint
}

const uri = (text: string) => parseUri(text) as SipUri
const connectionLine = (sdp: Uint8Array | undefined) => /^c=.*$/m.exec(new TextDecoder().decode(sdp))?.[0].trim()
const behindNat = {
  ports: { from: 22_000, to: 22_999 },
  announcedAddress: '203.0.113.9',
  localNetworks: [parseIpNetwork('127.0.0.0/8')!],
}
const OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 40000 RTP/AVP 0',
  '',
].join('\r\n')

describe('where media may be sent', () => {
  it('the sockets of an endpoint are those of its calls, RTP and RTCP, and of its signalling', async () => {
    const endpoint = await open({ rtp: behindNat })
    const media = await endpoint.media.open({ label: 'test' })
    const { isOwnSocket, ownPorts } = endpoint.mediaDestinations
    for (const address of ['127.0.0.1', '203.0.113.9']) {
      expect(ownPorts).toContainEqual({ address, ...behindNat.ports })
      expect(ownPorts).toContainEqual({ address, from: endpoint.port('udp'), to: endpoint.port('udp') })
    }
    for (const address of ['127.0.0.1', '203.0.113.9']) {
      expect(isOwnSocket(address, media.local.port)).toBe(true)
      expect(isOwnSocket(address, media.local.port + 1)).toBe(true)
      expect(isOwnSocket(address, endpoint.port('udp'))).toBe(true)
      expect(isOwnSocket(address, media.local.port + 2)).toBe(false)
    }
    expect(isOwnSocket('198.51.100.7', media.local.port)).toBe(false)
    await media.close()
    expect(isOwnSocket('127.0.0.1', media.local.port)).toBe(false)
  })

  it.each([
    ['a port below 1024', 'm=audio 53 RTP/AVP 0'],
    ['a link-local address', 'm=audio 40000 RTP/AVP 0\r\nc=IN IP4 169.254.169.254'],
  ])('an offer of %s is refused with 488', async (_what, line) => {
    const endpoint: Endpoint = await open({
      onInvite: session => void receiveLeg(endpoint, session, { security: 'rtp-only' }),
    })
    const peer = await open({})
    const session = peer.userAgent.invite({
      uri: uri(`sip:x@127.0.0.1:${endpoint.port('udp')};transport=udp`),
      from: { displayName: undefined, uri: uri('sip:me@peer.example'), params: new Map() },
      body: { contentType: 'application/sdp', bytes: new TextEncoder().encode(OFFER.replace(/m=.*/, line)) },
    })
    const status = await new Promise(resolve =>
      session.onEvent(event => event.type === 'ended' && resolve(event.end.status)),
    )
    expect(status).toBe(488)
  })
})

describe('the address of the SDP', () => {
  it.each([
    ['in a local network', '127.0.0.1', behindNat, 'c=IN IP4 127.0.0.1'],
    ['known by name only, which may resolve to any network', 'localhost', behindNat, 'c=IN IP4 203.0.113.9'],
    ['outside of the local networks', '127.0.0.1', { ...behindNat, localNetworks: [] }, 'c=IN IP4 203.0.113.9'],
  ])('the SDP offer to a host %s (%s) has the right media address', async (_what, host, rtp, expected) => {
    const received = Promise.withResolvers<InviteSession>()
    const peer = await open({
      onInvite: session => {
        received.resolve(session)
        session.reject(486)
      },
    })
    const endpoint = await open({ advertisedHost: 'engine-1.example', rtp })
    const leg = await dialLeg(endpoint, {
      uri: uri(`sip:x@${host}:${peer.port('tcp')};transport=tcp`),
      from: { displayName: undefined, uri: uri('sip:me@engine.example'), params: new Map() },
      security: 'rtp-only',
    })
    const ended = new Promise(resolve => leg.onEvent(event => event.type === 'ended' && resolve(event)))
    const { invite } = await received.promise
    expect(connectionLine(invite.body)).toBe(expected)
    expect(invite.via[0]).toMatchObject({ host: 'engine-1.example' })
    expect(invite.contact[0]).toMatchObject({ uri: { host: 'engine-1.example' } })
    await ended
  })

  it.each([
    ['from a local network', behindNat, 'c=IN IP4 127.0.0.1'],
    ['from outside', { ...behindNat, localNetworks: [] }, 'c=IN IP4 203.0.113.9'],
  ])('the SDP answer to a caller %s has the right media address', async (_where, rtp, expected) => {
    const endpoint: Endpoint = await open({
      rtp,
      onInvite: session => void receiveLeg(endpoint, session, { security: 'rtp-only' }).then(leg => leg?.answer()),
    })
    const peer = await open({})
    const session = peer.userAgent.invite({
      uri: uri(`sip:x@127.0.0.1:${endpoint.port('udp')};transport=udp`),
      from: { displayName: undefined, uri: uri('sip:me@peer.example'), params: new Map() },
      body: { contentType: 'application/sdp', bytes: new TextEncoder().encode(OFFER) },
    })
    const answer = await new Promise<Uint8Array | undefined>(resolve =>
      session.onEvent(event => event.type === 'answered' && resolve(event.body?.bytes)),
    )
    expect(connectionLine(answer)).toBe(expected)
  })
})
