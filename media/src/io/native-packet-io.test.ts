import { readdirSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PACKET_SLOT_BYTES, PacketBatch } from '../packet-io/packet-io.ts'
import { loadNativeAddon, madeAtOnce, type NativeAddon, NativePacketIo } from './native-packet-io.ts'
import { packetIoConformance } from './testing/packet-io-conformance.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const note = missing ? ` (skipped: ${addon})` : ''

const LOOPBACK = '127.0.0.1'
const LOOPBACK_IPV4 = 0x7f000001

if (!missing) packetIoConformance('native', () => Promise.resolve(new NativePacketIo()))

describe('the clock of the native packet I/O', () => {
  /** Makes the time that it is given; each attempt takes as long as the next of `tookMs`, then nothing. */
  const making = (...tookMs: number[]) => {
    let now = 100
    const make = (at: number) => {
      now += tookMs.shift() ?? 0
      return at
    }
    return madeAtOnce(() => now, make)
  }

  it('a thread that lost its processor while its packet I/O was made makes another, so that the two clocks agree', () => {
    expect(making(0.02)).toBe(100)
    expect(making(80, 0.03)).toBe(180)
    expect(making(80, 40, 0.04, 1)).toBe(220)
  })

  it('on a machine that is never quick, the closest of ten attempts is used', () => {
    expect(making(9, 8, 7, 6, 5, 1, 5, 6, 7, 8, 0)).toBe(135)
  })
})

describe.skipIf(missing)(`packet I/O: native${note}`, () => {
  it('the arrival time of a packet is when it arrived, not when it was polled', async () => {
    const io = new NativePacketIo()
    const [a, b] = [await io.open(LOOPBACK, 0), await io.open(LOOPBACK, 0)]
    const batch = new PacketBatch(1)
    batch.length[0] = 100
    batch.socket[0] = a
    batch.ipv4[0] = LOOPBACK_IPV4
    batch.port[0] = io.port(b)
    const before = io.now()
    io.send(batch, 1)
    const after = io.now()
    await io.wait(after + 30)
    const taken = io.now()
    expect(io.poll(batch)).toBe(1)
    expect(batch.arrivedAt[0]).toBeGreaterThan(before - 0.1)
    // Nearer to when it was sent than to when it was taken.
    expect(batch.arrivedAt[0]).toBeLessThan((after + taken) / 2)
    io.close(a)
    io.close(b)
  })

  it('a socket gets its packets while others are flooded', async () => {
    const io = new NativePacketIo()
    const from = await io.open(LOOPBACK, 0)
    const sockets: number[] = []
    for (let i = 0; i < 20; i++) sockets.push(await io.open(LOOPBACK, 0))
    const batch = new PacketBatch(64)
    batch.length.fill(50)
    batch.socket.fill(from)
    batch.ipv4.fill(LOOPBACK_IPV4)
    for (const flooded of sockets.slice(0, 19)) {
      batch.port.fill(io.port(flooded))
      io.send(batch, 64)
    }
    batch.port.fill(io.port(sockets[19]!))
    io.send(batch, 1)
    const heard = new Set<number>()
    for (let polls = 0; polls < 2; polls++) {
      const n = io.poll(batch)
      for (let i = 0; i < n; i++) heard.add(batch.socket[i]!)
    }
    expect(heard.has(sockets[19]!)).toBe(true)
    for (const socket of [from, ...sockets]) io.close(socket)
  })

  it('a thread that is terminated while it waits leaves no socket or descriptor', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length
    const begin = async (): Promise<Worker> => {
      const worker = new Worker(new URL('./testing/native-sleeper.ts', import.meta.url))
      await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
      return worker
    }
    const first = await begin()
    await first.terminate()
    const before = descriptors()
    const workers = await Promise.all([begin(), begin(), begin()])
    expect(descriptors()).toBeGreaterThan(before + 3 * 50)
    await Promise.all(workers.map(worker => worker.terminate()))
    expect(descriptors()).toBeLessThan(before + 10)
  })
})

/** Values outside the types of the addon. */
const anything = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.bigInt(),
  fc.string(),
  fc.constantFrom(undefined, null, Number.NaN, Number.POSITIVE_INFINITY, -1, 2 ** 31, 2 ** 32, {}, [], Symbol('x')),
)
const typedArray = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 4000 }), fc.boolean())
  .map(([kind, length, detached]) => {
    const kinds = [Uint8Array, Uint16Array, Int32Array, Uint32Array, Float64Array, DataView] as const
    const buffer = new ArrayBuffer(length * 8)
    const array = new (kinds[kind] as typeof Uint8Array)(buffer)
    if (detached) structuredClone(buffer, { transfer: [buffer] })
    return array
  })
const arrays = fc.tuple(...[0, 1, 2, 3, 4, 5].map(() => fc.oneof(typedArray, anything)))

type Method = (...args: unknown[]) => unknown

describe.skipIf(missing)(`the native packet I/O addon${note}`, () => {
  const { PacketIo } = missing ? ({} as NativeAddon) : addon
  const fresh = () => new PacketIo(performance.now())
  const callable = (io: object) =>
    io as Record<'open' | 'port' | 'close' | 'wait' | 'poll' | 'send' | 'counters', Method>

  it('any JavaScript arguments are accepted or throw a TypeError or RangeError', () => {
    const io = callable(fresh())
    const socket = io.open(LOOPBACK_IPV4, 0) as number
    const attempt = (call: () => unknown) => {
      try {
        call()
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
      }
    }
    fc.assert(
      fc.property(arrays, anything, anything, (six, x, y) => {
        attempt(() => io.poll(...six))
        attempt(() => io.port(x))
        attempt(() => io.counters(six[0]))
        attempt(() => io.wait(typeof x === 'number' && x > 0 && x < 1e15 ? 0 : Number.NaN))
        attempt(() => io.wait(typeof x === 'number' ? 'x' : x))
        attempt(() => new (PacketIo as unknown as new (now: unknown) => unknown)(x))
        attempt(() => io.poll.call(x, ...six))
        attempt(() => io.poll.call(six[0]))
        // Ports that are none: the others would be bound.
        if (typeof y !== 'number' || y < 0 || y > 65_535) attempt(() => io.open(x, y))
        if (x !== socket) attempt(() => io.close(x))
        try {
          io.send(...six.slice(0, 5), y)
        } catch (error) {
          expect(error instanceof TypeError || error instanceof RangeError).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
    expect(io.port(socket)).toBeGreaterThan(0)
    io.close(socket)
  })

  it('a batch is as long as its shortest array, and empty if one is detached', () => {
    const io = fresh()
    const [a, b] = [io.open(LOOPBACK_IPV4, 0), io.open(LOOPBACK_IPV4, 0)]
    const { bytes, length, socket, ipv4, port, arrivedAt } = new PacketBatch(8)
    length.fill(20)
    socket.fill(a)
    ipv4.fill(LOOPBACK_IPV4)
    port.fill(io.port(b))
    io.send(bytes, length, socket, ipv4, port, 8)
    expect(io.poll(bytes, length, socket, ipv4, port.subarray(0, 3), arrivedAt)).toBe(3)
    expect(io.poll(bytes.subarray(0, 2 * PACKET_SLOT_BYTES - 1), length, socket, ipv4, port, arrivedAt)).toBe(1)
    expect(() => io.send(bytes, length, socket, ipv4, port, 9)).toThrow(RangeError)
    expect(() => io.send(bytes, length, socket.subarray(1), ipv4, port, 8)).toThrow(RangeError)
    structuredClone(ipv4, { transfer: [ipv4.buffer as ArrayBuffer] })
    expect(io.poll(bytes, length, socket, ipv4, port, arrivedAt)).toBe(0)
    expect(() => io.send(bytes, length, socket, ipv4, port, 1)).toThrow(RangeError)
    io.close(a)
    io.close(b)
  })

  it('packets longer than a slot, of an unknown socket or to port 0 are dropped and counted', () => {
    const io = fresh()
    const a = io.open(LOOPBACK_IPV4, 0)
    const { bytes, length, socket, ipv4, port } = new PacketBatch(5)
    length.set([PACKET_SLOT_BYTES + 1, 65_535, 10, 10, 10])
    socket.set([a, a, -1, a + 65_536, a])
    ipv4.fill(LOOPBACK_IPV4)
    port.set([9, 9, 9, 9, 0])
    io.send(bytes, length, socket, ipv4, port, 5)
    const counters = new Float64Array(4)
    io.counters(counters)
    expect([...counters]).toEqual([0, 0, 0, 5])
    io.close(a)
  })

  it('socket numbers are not reused', () => {
    const io = fresh()
    const numbers = new Set<number>()
    for (let i = 0; i < 1000; i++) {
      const socket = io.open(LOOPBACK_IPV4, 0)
      numbers.add(socket)
      io.close(socket)
      expect(io.port(socket)).toBe(0)
    }
    expect(numbers.size).toBe(1000)
  })
})
