// Web calls through coturn, a TURN server of others. The browser is bound to an address of IPv6 and the engine to one of IPv4, or the
// other way round, and the server to both: the relay is their only path.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { iceServersFor, PeerProcess } from '@parley/webrtc'
import { BrowserStandIn } from '@parley/webrtc/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { coturn, startTurnServer, type TurnServer } from './coturn.ts'
import { clientOf, eventually, hasEnded, waitForRun } from './placed-call.ts'
import { startServing } from './serving.ts'
import { rms, spokenWide } from './wide-speech.ts'

const SOON_MS = 60_000
const IN_AN_HOUR = 3_600_000
const AUDIO = { mid: '0', payloadType: 111, fmtp: null }

/** Credentials for `turn`, valid until `expiresAt`. */
function serversOf({ url6, secret }: TurnServer, expiresAt: number) {
  return iceServersFor({ urls: [url6], secret }, 'test', expiresAt)
}

/** Calls a peer process whose side is as given, which may only relay; resolves when the browser's packets arrive at the media port. */
async function connectedThrough(
  engine: { readonly bindAddress: string; readonly iceServers: ReturnType<typeof serversOf> },
  browser: BrowserStandIn,
): Promise<void> {
  const peers = new PeerProcess({
    bindAddress: engine.bindAddress,
    ports: null,
    announcedAddress: null,
    iceServers: () => engine.iceServers,
    relayOnly: true,
    onProblem: () => {},
  })
  const media = createSocket('udp4')
  media.bind(0, '127.0.0.1')
  await once(media, 'listening')
  onTestFinished(async () => {
    browser.close()
    await peers.close()
    media.close()
  })
  const { address, port } = media.address()
  let packets = 0
  media.on('message', () => packets++)
  await browser.call('http://signalling.test/', 'token', async (_url, init) => {
    const peer = await peers.connect({ sdp: String(init?.body), audio: AUDIO, media: { address, port } })
    return new Response(peer.answer, { status: 201 })
  })
  await eventually(
    async () => packets,
    count => count > 10,
    SOON_MS,
  )
}

describe.skipIf(coturn.missing)(`web calls through a TURN server${coturn.note}`, () => {
  it('the engine relays to a browser that it cannot reach itself', async () => {
    const turn = await startTurnServer()
    const browser = new BrowserStandIn({ offersCandidates: true })
    const engine = { bindAddress: '::1', iceServers: serversOf(turn, Date.now() + IN_AN_HOUR) }
    await connectedThrough(engine, browser)
    expect(turn.relays(browser.path!.remote.port)).toBe(true)
  })

  it('a credential that has expired gets no relay', async () => {
    const turn = await startTurnServer()
    const relaysOffered = async (expiresAt: number) => {
      const iceServers = serversOf(turn, expiresAt).map(({ url, ...rest }) => ({ urls: [url], ...rest }))
      const browser = new BrowserStandIn({ bindAddress: '::1', iceServers })
      onTestFinished(() => browser.close())
      let offer = ''
      await browser.call('http://signalling.test/', 'token', async (_url, init) => {
        offer = String(init?.body)
        return new Response('', { status: 409 })
      })
      return offer.match(/typ relay/g)?.length ?? 0
    }
    expect(await relaysOffered(Date.now() - 60_000), turn.output()).toBe(0)
    expect(await relaysOffered(Date.now() + IN_AN_HOUR), turn.output()).toBe(1)
  })

  it('a browser that cannot reach the engine relays through the servers of the join answer: agent and caller hear each other', async () => {
    const turn = await startTurnServer()
    const serving = await startServing(onTestFinished, {
      env: { PARLEY_TURN_URLS: turn.url6, PARLEY_TURN_SECRET: turn.secret },
    })
    const client = clientOf(serving)
    const run = await client.runs.create({ body: { agent_id: 'clinic', channel: 'web', mode: 'inbound' } })
    const { url, token, ice_servers } = run.web!
    expect(ice_servers).toEqual([
      { urls: [turn.url6], username: expect.stringContaining(run.run_id), credential: expect.any(String) },
    ])
    const browser = new BrowserStandIn({ bindAddress: '::1', iceServers: ice_servers, relayOnly: true })
    onTestFinished(() => browser.close())
    expect(await browser.call(url, token), serving.output()).toBe(201)
    browser.speak(await spokenWide('I would like to book an appointment'))
    await eventually(
      async () => browser.messages.some(({ type, speaking }) => type === 'user' && speaking === true),
      isHeard => isHeard,
      SOON_MS,
    )
    await eventually(
      async () => rms(browser.heard),
      level => level > 0.005,
      SOON_MS,
    )
    expect(browser.path!.local.type).toBe('relay')
    browser.send({ type: 'hangup' })
    expect((await waitForRun(client, run.run_id, hasEnded, SOON_MS)).state).toBe('completed')
  })
})
