import { SeededRandom, VirtualTime } from '@parley/kernel'
import { InlineMediaPlane, VirtualPacketNetwork } from '@parley/media'
import { describe, expect, it } from 'vitest'
import type { LegEvent } from './leg.ts'
import { openWebLeg, type WebLeg } from './web-leg.ts'

/** A web leg in virtual time. */
async function opened(options: { readonly visitorMs?: number } = {}) {
  const time = new VirtualTime()
  const random = new SeededRandom(1)
  const network = new VirtualPacketNetwork({ time, random })
  const media = new InlineMediaPlane({ time, random, network, address: '192.0.2.1' })
  const leg = await openWebLeg({ media, time }, { label: 'web-1', ...options })
  const events: LegEvent[] = []
  leg.onEvent(event => events.push(event))
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 20) {
      time.advance(20)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  return { leg, media, events, pass }
}

type Peer = Parameters<WebLeg['connect']>[0]

/** The agent's participant in a room. */
function agentPeer() {
  let listener: Parameters<Peer['onEvent']>[0] = () => {}
  const peer: Peer = {
    port: 40_000,
    onEvent: added => {
      listener = added
    },
    send: () => {},
    close: () => {},
  }
  return { peer, emit: (event: Parameters<typeof listener>[0]) => listener(event) }
}

const L16 = { codec: 'L16', payloadType: 112, fmtp: null } as const

describe('a leg to the visitor of a room', () => {
  it('the visitor has the given time to join, whenever the agent did; one that never comes is named as the cause', async () => {
    const { leg, media, events, pass } = await opened({ visitorMs: 130_000 })
    await pass(40_000)
    leg.connect(agentPeer().peer, L16)
    await pass(89_000)
    expect(leg.state).toBe('offered')
    await pass(2000)
    expect(events.at(-1)).toMatchObject({ type: 'ended', end: { by: 'remote', cause: 'not-joined', answered: false } })
    expect(media.describe()).toContain('0 leased')
  })

  it('a visitor who leaves the room ends the call as a caller who hangs up', async () => {
    const { leg, events, pass } = await opened({ visitorMs: 130_000 })
    const { peer, emit } = agentPeer()
    leg.connect(peer, L16)
    emit({ type: 'connected' })
    emit({ type: 'left' })
    await pass(20)
    expect(events.map(({ type }) => type)).toContain('answered')
    expect(events.at(-1)).toMatchObject({ type: 'ended', end: { by: 'remote', cause: 'bye', answered: true } })
  })

  it('a visitor whose path was lost has 10 s to come back; a room that is gone ends the call at once', async () => {
    const back = await opened({ visitorMs: 130_000 })
    const one = agentPeer()
    back.leg.connect(one.peer, L16)
    one.emit({ type: 'connected' })
    one.emit({ type: 'disconnected' })
    await back.pass(9000)
    one.emit({ type: 'connected' })
    await back.pass(60_000)
    expect(back.leg.state).toBe('active')
    one.emit({ type: 'disconnected' })
    await back.pass(11_000)
    expect(back.events.at(-1)).toMatchObject({ end: { cause: 'media-lost', answered: true } })
    const gone = await opened({ visitorMs: 130_000 })
    const other = agentPeer()
    gone.leg.connect(other.peer, L16)
    other.emit({ type: 'connected' })
    other.emit({ type: 'gone', detail: 'the connection is closed' })
    await gone.pass(20)
    expect(gone.events.at(-1)).toMatchObject({
      end: { by: 'remote', cause: 'media-lost', detail: 'the connection is closed' },
    })
  })

  it('a room that cannot be joined ends the leg, which was not answered', async () => {
    const { leg, events, pass } = await opened({ visitorMs: 130_000 })
    leg.lost('LiveKit did not answer')
    await pass(20)
    expect(events.at(-1)).toMatchObject({
      end: { cause: 'timeout', answered: false, detail: 'LiveKit did not answer' },
    })
  })
})

describe('a leg to a browser', () => {
  it('a leg without a peer connection ends after 20 s and gives its media session back', async () => {
    const { leg, media, events, pass } = await opened()
    await pass(19_000)
    expect(leg.state).toBe('offered')
    await pass(2000)
    expect(leg.state).toBe('ended')
    expect(events.at(-1)).toMatchObject({ type: 'ended', end: { cause: 'timeout', answered: false } })
    expect(media.describe()).toContain('0 leased')
  })
})
