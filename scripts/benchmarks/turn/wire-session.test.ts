import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { systemRandom, type Time, VirtualTime } from '@parley/kernel'
import { decodePcmu, encodePcmu, type MediaParameters } from '@parley/media'
import { pcmuCall, RtpHeader, readRtpHeader, SrtpReceiver, SrtpSender, writeRtpHeader } from '@parley/media/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WireLine } from './wire-line.ts'
import { WireMediaPlane } from './wire-media-plane.ts'
import type { WireTap } from './wire-session.ts'

const closing: (() => unknown)[] = []
afterEach(() => Promise.all(closing.splice(0).map(close => close())))

/** A far end on a socket of its own, and a session with it in virtual time. */
async function line(tap: Partial<WireTap> = {}, clock?: Time, keys: MediaParameters['srtp'] = null) {
  const far = createSocket('udp4')
  const bound = once(far, 'listening')
  far.bind(0, '127.0.0.1')
  await bound
  closing.push(() => far.close())
  const time = new VirtualTime()
  const plane = new WireMediaPlane(new WireLine(clock ?? time), { sent() {}, heard() {}, ...tap })
  closing.push(() => plane.close())
  const session = await plane.open({ label: 'caller' })
  session.apply(pcmuCall(far.address().port, keys))
  return { far, time, session, plane }
}

/** The next `count` packets that arrive at `socket`. */
function packets(socket: Socket, count: number): Promise<{ header: RtpHeader; audio: Int16Array }[]> {
  const received: { header: RtpHeader; audio: Int16Array }[] = []
  return new Promise(resolve => {
    socket.on('message', packet => {
      const header = new RtpHeader()
      expect(readRtpHeader(packet, packet.length, header)).toBe(true)
      const audio = new Int16Array(header.payloadLength)
      decodePcmu(packet, header.payloadOffset, audio.length, audio, 0)
      received.push({ header, audio })
      if (received.length === count) resolve(received)
    })
  })
}

function packet(payloadType: number, level: number): Uint8Array {
  const bytes = new Uint8Array(172)
  writeRtpHeader(bytes, payloadType, false, 7, 160, 99)
  encodePcmu(new Int16Array(160).fill(level), 0, 160, bytes, 12)
  return bytes
}

/** Sends to the session's port. */
function sender(session: { readonly local: { readonly port: number } }) {
  return (from: Socket, bytes: Uint8Array) =>
    new Promise(done => from.send(bytes, session.local.port, '127.0.0.1', done))
}

describe('the media session of a measuring caller', () => {
  it('a wire session sends a frame every 20 ms: the played audio, then silence', async () => {
    const { far, time, session } = await line()
    expect(session.play(new Int16Array(200).fill(4000))).toBe(200)
    const arriving = packets(far, 4)
    time.advance(60)
    const seen = await arriving
    expect(seen.map(({ header }) => header.marker)).toEqual([true, false, false, false])
    expect(seen.map(({ header }) => header.timestamp - seen[0]!.header.timestamp)).toEqual([0, 160, 320, 480])
    expect(new Set(seen.map(({ header }) => header.ssrc)).size).toBe(1)
    const loud = seen.map(({ audio }) => audio.filter(sample => Math.abs(sample - 4000) < 200).length)
    expect(loud).toEqual([160, 40, 0, 0])
    expect([session.played(), session.queued()]).toEqual([200, 0])
  })

  it('the tap gets each frame as it is sent, with the number of samples left', async () => {
    const sent: [number, number][] = []
    const { time, session } = await line({ sent: (_at, frame, left) => sent.push([frame[159]!, left]) })
    session.play(new Int16Array(320).fill(3000))
    time.advance(40)
    expect(sent).toEqual([
      [3000, 160],
      [3000, 0],
      [0, 0],
    ])
    session.play(new Int16Array(320).fill(3000))
    session.flush()
    time.advance(20)
    expect(sent.at(-1)).toEqual([0, 0])
  })

  it('a wire session that is late drops frames instead of sending a burst', async () => {
    const virtual = new VirtualTime()
    let stalledMs = 0
    const { session } = await line(
      {},
      {
        now: () => virtual.now() + stalledMs,
        at: (deadline, callback) => virtual.at(deadline - stalledMs, callback),
      },
    )
    virtual.advance(40)
    stalledMs = 1000
    virtual.advance(20)
    expect(await session.statistics()).toMatchObject({ packetsSent: 4, missedSlots: 50 })
    expect(session.heardPosition()).toBe(54 * 160)
  })

  it('the tap gets the audio of the far end and of no other sender', async () => {
    const heard: number[] = []
    const { far, time, session } = await line({ heard: (_at, frame) => heard.push(Math.round(frame[0]! / 1000)) })
    const otherSender = createSocket('udp4')
    closing.push(() => otherSender.close())
    const send = sender(session)
    await send(far, packet(0, 2000))
    await send(otherSender, packet(0, 9000))
    await send(far, packet(101, 9000))
    await send(far, Uint8Array.of(0x80, 200, 0, 1, 0, 0, 0, 9))
    await send(far, Uint8Array.of(1, 2, 3))
    await send(far, packet(0, 3000))
    await vi.waitFor(() => {
      time.advance(20)
      expect(heard).toEqual([2, 3])
    })
  })

  it('with keys the audio is SRTP both ways, and packets that are not authentic are counted', async () => {
    const key = () => ({ suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: systemRandom.bytes(30) }) as const
    const keys = { send: key(), receive: key() }
    const heard: number[] = []
    const tap = { heard: (_at: number, frame: Int16Array) => heard.push(Math.round(frame[0]! / 1000)) }
    const { far, time, session } = await line(tap, undefined, keys)
    const receiver = new SrtpReceiver(keys.send)
    const arriving = once(far, 'message')
    time.advance(20)
    const [sealed] = (await arriving) as [Uint8Array]
    expect(receiver.unprotect(sealed, sealed.length)).toBe(172)
    const protectedPacket = new Uint8Array(200)
    protectedPacket.set(packet(0, 2000))
    const length = new SrtpSender(keys.receive).protect(protectedPacket, 172)
    const send = sender(session)
    await send(far, packet(0, 9000))
    await send(far, protectedPacket.subarray(0, length))
    await vi.waitFor(() => {
      time.advance(20)
      expect(heard).toEqual([2])
    })
    expect((await session.statistics()).rejected.unauthenticated).toBe(1)
    expect(() => session.apply(pcmuCall(9, { send: key(), receive: keys.receive }))).toThrow('changed them')
  })
})
