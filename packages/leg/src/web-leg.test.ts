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
  return { leg, media, events, pass, time, network }
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

const LOOPBACK = 0x7f00_0001
const FRAME = 320
const RTP_HEADER_BYTES = 12

/** RTP of 20 ms of L16 at 16 kHz: a constant value. */
function framePacket(sequence: number, value: number): Buffer {
  const packet = Buffer.alloc(RTP_HEADER_BYTES + 2 * FRAME)
  packet[0] = 0x80
  packet[1] = L16.payloadType
  packet.writeUInt16BE(sequence, 2)
  packet.writeUInt32BE(sequence * FRAME, 4)
  packet.writeUInt32BE(7, 8)
  for (let i = 0; i < FRAME; i++) packet.writeInt16BE(value, RTP_HEADER_BYTES + 2 * i)
  return packet
}

describe('a leg to a browser', () => {
  it('hears packets that a wireless network held back for 100 ms, and does not wait for longer', async () => {
    const { leg, media, pass, time, network } = await opened()
    const { peer, emit } = agentPeer()
    leg.connect(peer, L16)
    emit({ type: 'connected' })
    const browser = network.bind(LOOPBACK, peer.port, () => {})
    const [host, port] = [0xc000_0201, leg.mediaAddress.port]
    /** Value of each frame of a second, and how late it comes. */
    const frames = Array.from({ length: 50 }, (_, i) => ({ value: 100 * (i + 1), lateMs: i >= 20 && i < 25 ? 100 : 0 }))
    frames[40]!.lateMs = 200
    const from = time.now()
    for (const [i, { value, lateMs }] of frames.entries()) {
      const packet = framePacket(i, value)
      time.at(from + 20 * i + lateMs, () => browser.send(packet, packet.length, host, port))
    }
    await pass(1500)
    /** Samples by value: concealment and what joins it to the sound pass through many values. */
    const heard = new Map<number, number>()
    const block = new Int16Array(FRAME)
    for (let n = leg.readHeard(block); n > 0; n = leg.readHeard(block))
      for (const value of block.subarray(0, n)) heard.set(value, (heard.get(value) ?? 0) + 1)
    const isHeard = (value: number) => (heard.get(value) ?? 0) > FRAME / 2
    expect(frames.filter(({ value }) => !isHeard(value)).map(({ value }) => value)).toEqual([4100])
    leg.hangUp()
    await expect(media.open({ label: 'narrow', holdMs: 120 })).rejects.toThrow(/leave it out/)
  })

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
