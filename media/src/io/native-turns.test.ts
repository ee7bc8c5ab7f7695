import { describe, expect, it } from 'vitest'
import { PacketBatch } from '../packet-io/packet-io.ts'
import { RtpHeader, readRtpHeader } from '../rtp/rtp-packet.ts'
import type { MediaParameters } from '../session/media-session.ts'
import { loadNativeAddon, NativePacketIo } from './native-packet-io.ts'
import { ThreadedMediaPlane } from './threaded-media-plane.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const LOOPBACK = '127.0.0.1'
/** Packet times of one slot each, of two, and of several periods of 20 ms. */
const PACKET_TIMES = [10, 20, 30, 40, 50, 60] as const
/** PCMU has a byte per tick. */
const TICKS_PER_MS = 8
const HEADER_BYTES = 12
const WAKE_MS = 2.5
const PACKETS = 12
const LONGEST_MS = 20_000

/**
 * RTP timestamps of the first packets of its own packet time that each socket receives, oldest first. One or two may come before them that
 * were sent before the packet time changed.
 */
async function timestampsOf(io: NativePacketIo, sockets: readonly number[]): Promise<number[][]> {
  const batch = new PacketBatch(64)
  const header = new RtpHeader()
  const found = new Map(sockets.map(socket => [socket, [] as number[]]))
  const isWhole = () => [...found.values()].every(times => times.length >= PACKETS)
  for (const until = io.now() + LONGEST_MS; !isWhole() && io.now() < until; await io.wait(io.now() + WAKE_MS)) {
    for (let count = io.poll(batch), i = 0; i < count; i++) {
      if (!readRtpHeader(batch.slots[i]!, batch.length[i]!, header)) continue
      const socket = batch.socket[i]!
      const payloadBytes = PACKET_TIMES[sockets.indexOf(socket)]! * TICKS_PER_MS
      if (batch.length[i]! === HEADER_BYTES + payloadBytes) found.get(socket)!.push(header.timestamp)
    }
  }
  return [...found.values()]
}

describe.skipIf(missing)(`wakes in C++${missing ? ` (skipped: ${addon})` : ''}`, () => {
  it('a call of every packet time sends on its own grid, also when its packet time changes', async () => {
    const io = new NativePacketIo()
    const plane = await ThreadedMediaPlane.start({
      threads: 1,
      bindAddress: LOOPBACK,
      ports: { from: 36_200, to: 36_999 },
      packetIo: 'native',
    })
    try {
      const sockets = await Promise.all(PACKET_TIMES.map(() => io.open(LOOPBACK, 0)))
      const sessions = await Promise.all(PACKET_TIMES.map(ptime => plane.open({ label: `${ptime} ms` })))
      const parameters = (i: number, ptimeMs: number): MediaParameters => ({
        remote: { address: LOOPBACK, port: io.port(sockets[i]!) },
        direction: 'sendrecv',
        codec: 'PCMU',
        payloadType: 0,
        ptimeMs,
        dtmfPayloadType: 101,
        srtp: null,
      })
      // Each begins with another packet time than the one that it keeps.
      for (const [i, session] of sessions.entries()) session.apply(parameters(i, PACKET_TIMES.at(i - 1)!))
      for (const [i, session] of sessions.entries()) session.apply(parameters(i, PACKET_TIMES[i]!))
      const timestamps = await timestampsOf(io, sockets)
      for (const [i, times] of timestamps.entries()) {
        const period = PACKET_TIMES[i]! * TICKS_PER_MS
        const steps = times.slice(1).map((time, k) => ((time - times[k]!) >>> 0) / period)
        // A thread that was held up leaves out slots.
        expect(
          steps.filter(step => step < 1 || !Number.isInteger(step)),
          `${PACKET_TIMES[i]} ms`,
        ).toEqual([])
        expect(Math.min(...steps), `${PACKET_TIMES[i]} ms`).toBe(1)
      }
      const [thread] = await plane.threadStatistics()
      expect(thread!.wakes).toBeGreaterThan(0)
      expect(thread!.sendLateness.count).toBeGreaterThanOrEqual(PACKETS * PACKET_TIMES.length)
    } finally {
      await plane.close()
    }
  })
})
