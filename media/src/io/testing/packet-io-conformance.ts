import { spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Ms } from '@parley/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PACKET_SLOT_BYTES, PacketBatch, type PacketIo } from '../../packet-io/packet-io.ts'
import { loadNativeAddon } from '../native-packet-io.ts'

const LOOPBACK = '127.0.0.1'
const LOOPBACK_IPV4 = 0x7f000001

/** A UDP socket that prints its port and then the traffic class of its first datagram, which Node does not show. */
const CLASS_READER = `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
s.settimeout(20)
s.bind(('${LOOPBACK}', 0))
print(s.getsockname()[1], flush=True)
print(s.recvmsg(100, 100)[1][0][2][0], flush=True)
`
/** Why the traffic class cannot be tested here: the addon sets it, and Python reads it. */
const noTrafficClass =
  spawnSync('python3', ['--version']).status !== 0
    ? ' (skipped: no python3)'
    : typeof loadNativeAddon() === 'string'
      ? ' (skipped: the native addon is not built)'
      : ''

/**
 * The shortest of at least 40 measured times, ms; measures on until one lies under `limit`, 2000 times at most. A busy
 * machine makes many of them long, but not all: only the implementation itself can do that.
 */
async function least(limit: Ms, measure: () => Promise<Ms>): Promise<Ms> {
  let shortest = Infinity
  for (let i = 0; i < 40 || (shortest >= limit && i < 2000); i++) shortest = Math.min(shortest, await measure())
  return shortest
}

/** Tests that every implementation of `PacketIo` must pass. */
export function packetIoConformance(name: string, make: () => Promise<PacketIo>): void {
  describe(`packet I/O: ${name}`, () => {
    let io: PacketIo
    const batch = new PacketBatch(64)
    let opened: number[] = []

    const open = async (port = 0): Promise<number> => {
      const socket = await io.open(LOOPBACK, port)
      opened.push(socket)
      return socket
    }
    /** Writes a packet of `length` bytes that begins with `mark` (16 bits) to slot `i`. */
    const put = (i: number, socket: number, to: number, mark: number, length = 172): void => {
      batch.slots[i]!.fill(0xa5, 0, length)
      batch.slots[i]![0] = mark >>> 8
      batch.slots[i]![1] = mark
      batch.length[i] = length
      batch.socket[i] = socket
      batch.ipv4[i] = LOOPBACK_IPV4
      batch.port[i] = io.port(to)
    }
    const mark = (from: PacketBatch, i: number): number => (from.slots[i]![0]! << 8) | from.slots[i]![1]!
    /** Polls until `wanted` packets have arrived or half a second is over. */
    const collect = async (wanted: number, into = new PacketBatch(32)): Promise<[socket: number, mark: number][]> => {
      const got: [number, number][] = []
      const until = io.now() + 500
      while (got.length < wanted && io.now() < until) {
        await io.wait(io.now() + 2)
        for (let n = io.poll(into); n > 0; n = io.poll(into)) {
          for (let i = 0; i < n; i++) got.push([into.socket[i]!, mark(into, i)])
        }
      }
      return got
    }

    beforeEach(async () => {
      io = await make()
      opened = []
    })
    afterEach(() => {
      for (const socket of opened) io.close(socket)
    })

    it('a socket binds the requested port, or with 0 one of the system’s choice', async () => {
      const any = await open()
      expect(io.port(any)).toBeGreaterThan(0)
      const port = io.port(any)
      io.close(any)
      await io.wait(io.now() + 5)
      expect(io.port(await open(port))).toBe(port)
    })

    it('binding fails with address_in_use for a used port, and bind_failed for a foreign address', async () => {
      const first = await open()
      await expect(io.open(LOOPBACK, io.port(first))).rejects.toMatchObject({ code: 'address_in_use', retryable: true })
      await expect(io.open('192.0.2.1', 0)).rejects.toMatchObject({ code: 'bind_failed' })
    })

    it.skipIf(noTrafficClass !== '')(`RTP is marked with expedited forwarding${noTrafficClass}`, async () => {
      const reader = spawn('python3', ['-c', CLASS_READER], { stdio: ['ignore', 'pipe', 'inherit'] })
      const lines = createInterface(reader.stdout)[Symbol.asyncIterator]()
      const socket = await open()
      put(0, socket, socket, 1)
      batch.port[0] = Number((await lines.next()).value)
      io.send(batch, 1)
      expect((await lines.next()).value).toBe(String(46 << 2))
    })

    it('packets arrive in order with length, bytes, source and time of arrival', async () => {
      const a = await open()
      const b = await open()
      const before = io.now()
      for (let i = 0; i < 20; i++) put(i, a, b, i, 20 + i)
      io.send(batch, 20)
      const into = new PacketBatch(64)
      let n = 0
      for (let tries = 0; tries < 100 && n === 0; tries++) {
        await io.wait(io.now() + 5)
        n = io.poll(into)
      }
      expect(n).toBe(20)
      for (let i = 0; i < n; i++) {
        expect([into.socket[i], into.length[i], into.ipv4[i], into.port[i]]).toEqual([
          b,
          20 + i,
          LOOPBACK_IPV4,
          io.port(a),
        ])
        expect(mark(into, i)).toBe(i)
        expect(into.slots[i]![20 + i - 1]).toBe(0xa5)
        expect(into.arrivedAt[i]).toBeGreaterThanOrEqual(before - 1)
        expect(into.arrivedAt[i]).toBeLessThanOrEqual(io.now())
      }
    })

    it('more packets than a batch holds come in several polls, none twice, none lost', async () => {
      const a = await open()
      const b = await open()
      for (let i = 0; i < 64; i++) put(i, a, b, i)
      io.send(batch, 64)
      const got = await collect(64, new PacketBatch(5))
      expect(got.map(([, m]) => m)).toEqual(Array.from({ length: 64 }, (_, i) => i))
      expect(io.poll(batch)).toBe(0)
    })

    it('each packet arrives at the socket that it was sent to', async () => {
      const a = await open()
      const b = await open()
      const c = await open()
      put(0, a, b, 1)
      put(1, a, c, 2)
      put(2, b, c, 3)
      io.send(batch, 3)
      const got = await collect(3)
      expect(got.filter(([s]) => s === b).map(([, m]) => m)).toEqual([1])
      expect(got.filter(([s]) => s === c).map(([, m]) => m)).toEqual([2, 3])
    })

    it('a packet longer than a slot is dropped and counted; one that fills it exactly arrives whole', async () => {
      const a = await open()
      const peer = createSocket('udp4')
      peer.bind(0, LOOPBACK)
      await once(peer, 'listening')
      try {
        peer.send(Buffer.alloc(PACKET_SLOT_BYTES + 1, 1), io.port(a), LOOPBACK)
        peer.send(Buffer.alloc(PACKET_SLOT_BYTES, 2), io.port(a), LOOPBACK)
        const into = new PacketBatch(4)
        expect(await collect(1, into)).toEqual([[a, 0x0202]])
        expect(into.length[0]).toBe(PACKET_SLOT_BYTES)
        expect(io.counters.receiveDropped).toBe(1)
      } finally {
        peer.close()
      }
    })

    it('polling without packets returns at once', async () => {
      await open()
      const shortest = await least(0.5, async () => {
        const before = io.now()
        expect(io.poll(batch)).toBe(0)
        return io.now() - before
      })
      expect(shortest).toBeLessThan(0.5)
    })

    it('a wait ends at its deadline, and at once when that has passed', async () => {
      await open()
      const lateness = await least(2, async () => {
        const deadline = io.now() + 2.5
        await io.wait(deadline)
        const late = io.now() - deadline
        expect(late).toBeGreaterThan(-0.1)
        return late
      })
      expect(lateness).toBeLessThan(2)
      const waitForThePast = await least(2, async () => {
        const before = io.now()
        await io.wait(before - 100)
        return io.now() - before
      })
      expect(waitForThePast).toBeLessThan(2)
    })

    it('closing a socket drops its packets and no others', async () => {
      const a = await open()
      const b = await open()
      const c = await open()
      for (let i = 0; i < 10; i++) put(i, a, i % 2 === 0 ? b : c, i)
      io.send(batch, 10)
      await io.wait(io.now() + 10)
      io.close(b)
      io.close(b)
      const got = await collect(5)
      expect(got).toEqual([1, 3, 5, 7, 9].map(m => [c, m]))
      put(0, b, c, 99)
      io.send(batch, 1)
      expect(await collect(0)).toEqual([])
      expect(io.counters.sendDropped).toBe(1)
    })

    it('packets received, sent and dropped are counted', async () => {
      const a = await open()
      const b = await open()
      for (let i = 0; i < 7; i++) put(i, a, b, i)
      // No packet can be sent to port 0.
      batch.port[3] = 0
      io.send(batch, 7)
      await collect(6)
      expect(io.counters).toEqual({ received: 6, sent: 6, receiveDropped: 0, sendDropped: 1 })
    })
  })
}
