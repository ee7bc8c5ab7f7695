import { NARROWBAND, randomBelow, SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PCMU } from '../codec/g711.ts'
import { DecodingStream } from '../session/codec-streams.ts'
import { ReceiveStream } from './receive-stream.ts'
import { linearDecoder, linearPayload } from './testing/linear-decoder.ts'

const PACKET = 160
const SSRC = 0xabcdef
const OPENED = 5000

interface Packet {
  /** Place in the source's audio, packets. */
  readonly i: number
  /** Moment of arrival, ms since open. */
  readonly at: number
  readonly ssrc?: number
  /** Added to the timestamp that `i` would give. */
  readonly shift?: number
  /** Sequence number, where it does not follow `i`. */
  readonly sequence?: number
  readonly silent?: boolean
}

/** Sample n of the source: no two near ones alike, never 0. */
const sourceSample = (n: number) => (((n * 7919) % 20011) - 10000) | 1

const packetAudio = new Int16Array(PACKET)

/** Lets packets arrive in order of `at` and pulls every 2.5 ms until `untilMs`; the stream from position 0. */
function run(packets: readonly Packet[], untilMs: number, options = { seq: 65_500, ts: 0xffff_f000 }) {
  const stream = new ReceiveStream({ openedAtMs: OPENED })
  const heard = new Int16Array(untilMs * 8 + 8000)
  const into = new Int16Array(333)
  const waiting = [...packets].sort((a, b) => a.at - b.at)
  let next = 0
  for (let now = 0; now <= untilMs; now += 2.5) {
    while (next < waiting.length && waiting[next]!.at <= now) {
      const { i, at, ssrc = SSRC, shift = 0, sequence = i, silent = false } = waiting[next++]!
      const seq = (options.seq + sequence) & 0xffff
      if (silent) {
        stream.skip(ssrc, seq, OPENED + at)
        continue
      }
      for (let k = 0; k < PACKET; k++) packetAudio[k] = sourceSample(i * PACKET + k)
      stream.push(
        ssrc,
        seq,
        (options.ts + i * PACKET + shift) >>> 0,
        linearDecoder,
        linearPayload(packetAudio),
        0,
        2 * PACKET,
        OPENED + at,
      )
    }
    for (;;) {
      const position = stream.position
      const count = stream.pull(OPENED + now, into)
      if (count === 0) break
      heard.set(into.subarray(0, count), position)
    }
  }
  return { stream, heard }
}

/** Whether packet i's audio stands at `position`; `head` samples may be blended with what was before. */
function standsAt(heard: Int16Array, position: number, i: number, head = 0): boolean {
  for (let k = head; k < PACKET; k++) if (heard[position + k] !== sourceSample(i * PACKET + k)) return false
  return true
}

const steady = (from: number, until: number, startMs: number): Packet[] =>
  Array.from({ length: until - from }, (_, k) => ({ i: from + k, at: startMs + 20 * k }))

describe('receive stream', () => {
  it('every packet is placed at its own time under loss, delay up to 40 ms, reordering and duplicates', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1 << 30 }),
        fc.integer({ min: 0, max: 0xffff }),
        fc.integer({ min: 0, max: 0xffff_ffff }),
        (seed, seq, ts) => {
          const random = new SeededRandom(seed)
          const start = 10 + 5 * randomBelow(random, 40)
          const sent = Array.from({ length: 70 }, (_, i) => i)
          const lost = new Set(sent.filter(i => i > 0 && i < 69 && randomBelow(random, 5) === 0))
          const packets = sent
            .filter(i => !lost.has(i))
            .map(i => ({ i, at: start + 20 * i + (i === 0 || i === 69 ? 0 : randomBelow(random, 36)) }))
            .flatMap(packet => (randomBelow(random, 6) === 0 ? [packet, { ...packet, at: packet.at + 3 }] : [packet]))
          const { stream, heard } = run(packets, start + 2500, { seq, ts })
          for (const i of sent) {
            if (lost.has(i)) continue
            // Behind a gap up to 10 ms are blended.
            expect(standsAt(heard, (start + 20 * i) * 8, i, i > 0 && lost.has(i - 1) ? 80 : 0)).toBe(true)
          }
          expect(stream.position).toBe((start + 2500 - 40) * 8)
          expect(stream.lost).toBe(lost.size)
          expect(stream.late).toBe(0)
          expect(heard.slice(0, start * 8).every(sample => sample === 0)).toBe(true)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('audio in order is delivered without delay; without packets, silence follows with 40 ms of delay', () => {
    const stream = new ReceiveStream({ openedAtMs: OPENED })
    const into = new Int16Array(4000)
    expect(stream.pull(OPENED + 30, into)).toBe(0)
    expect(stream.pull(OPENED + 60, into)).toBe(160)
    stream.push(SSRC, 1, 0, linearDecoder, linearPayload(packetAudio), 0, 2 * PACKET, OPENED + 70)
    stream.pull(OPENED + 70, into)
    expect(stream.position).toBe(70 * 8 + PACKET)
    expect(stream.positionOf(0)).toBe(70 * 8)
    expect(stream.positionOf(800)).toBe(70 * 8 + 800)
  })

  it('packets later than 40 ms are dropped and counted, and the others stay in place', () => {
    const packets = steady(0, 50, 100).map(packet => (packet.i === 20 ? { ...packet, at: packet.at + 61 } : packet))
    const { stream, heard } = run(packets, 2000)
    expect(stream.late).toBe(1)
    expect(standsAt(heard, (100 + 20 * 21) * 8, 21, 80)).toBe(true)
    expect(standsAt(heard, (100 + 20 * 22) * 8, 22)).toBe(true)
  })

  it('the tail of a packet is played when its head was already concealed', () => {
    const packets = steady(0, 50, 100).map(packet => (packet.i === 20 ? { ...packet, at: packet.at + 45 } : packet))
    const { stream, heard } = run(packets, 2000)
    expect(stream.late).toBe(0)
    expect(standsAt(heard, (100 + 20 * 20) * 8, 20, 40 + 80)).toBe(true)
  })

  it('pauses of a sender with silence suppression keep their length', () => {
    const packets = [
      ...steady(0, 20, 100),
      // 3 s without packets: sequence goes on, timestamps jump.
      ...steady(170, 190, 3500).map(packet => ({ ...packet, sequence: packet.i - 150 })),
    ]
    const { stream, heard } = run(packets, 4500)
    expect(standsAt(heard, 3500 * 8, 170, 80)).toBe(true)
    expect(standsAt(heard, 3500 * 8 + PACKET, 171)).toBe(true)
    expect(heard.slice(600 * 8, 3500 * 8).every(sample => sample === 0)).toBe(true)
    expect([stream.lost, stream.late, stream.anchors]).toEqual([0, 0, 1])
  })

  it('a longer loss is concealed for 60 ms, then silent', () => {
    const { stream, heard } = run([...steady(0, 20, 100), ...steady(40, 60, 900)], 1300)
    const gap = heard.slice((100 + 400) * 8, 900 * 8)
    expect(stream.concealedSamples).toBe(480)
    expect(gap.slice(0, 160).some(sample => sample !== 0)).toBe(true)
    expect(gap.slice(480).every(sample => sample === 0)).toBe(true)
    expect(stream.lost).toBe(20)
  })

  it('packets without audio do not count as lost', () => {
    const packets = steady(0, 50, 100).map(packet =>
      packet.i >= 20 && packet.i < 30 ? { ...packet, silent: true } : packet,
    )
    const { stream, heard } = run(packets, 1100)
    expect([stream.lost, stream.concealedSamples]).toEqual([0, 0])
    expect(heard.slice((100 + 400) * 8 + 80, (100 + 600) * 8).every(sample => sample === 0)).toBe(true)
    expect(standsAt(heard, (100 + 600) * 8, 30)).toBe(true)
  })

  it('a new source is placed by its own time of arrival', () => {
    const packets = [
      ...steady(0, 20, 100),
      ...steady(7, 27, 517).map(packet => ({ ...packet, ssrc: 99, shift: 123_456, sequence: packet.i + 30_000 })),
    ]
    const { stream, heard } = run(packets, 1500)
    expect(standsAt(heard, 517 * 8, 7, 80)).toBe(true)
    expect(standsAt(heard, (517 + 20 * 19) * 8, 26)).toBe(true)
    expect(stream.anchors).toBe(2)
  })

  it.each([
    ['forward', 9_000_000],
    ['back', -9_000_000],
    ['a second back', -8000],
  ])('the stream continues when the sender’s timestamps jump %s', (_, shift) => {
    const packets = [...steady(0, 20, 100), ...steady(20, 60, 500).map(packet => ({ ...packet, shift }))]
    const { stream, heard } = run(packets, 2000)
    expect(standsAt(heard, 500 * 8, 20, 80)).toBe(true)
    expect(standsAt(heard, (500 + 20 * 39) * 8, 59)).toBe(true)
    expect(stream.anchors).toBe(2)
  })

  it('the stream recovers after the sender’s clock stood still', () => {
    // Contiguous timestamps after a pause of one second: all packets are 1 s late by their timestamps.
    const { stream, heard } = run([...steady(0, 20, 100), ...steady(20, 60, 1500)], 3000)
    expect(stream.anchors).toBe(2)
    expect(standsAt(heard, (1500 + 20 * 39) * 8, 59)).toBe(true)
    expect(stream.late).toBeLessThanOrEqual(6)
  })

  it('a burst after a network outage counts as late packets, not as a shifted clock', () => {
    const packets = steady(0, 100, 100).map(packet => ({
      ...packet,
      at: packet.i >= 20 && packet.i < 50 ? 100 + 20 * 50 : packet.at,
    }))
    const { stream, heard } = run(packets, 3000)
    expect(stream.anchors).toBe(1)
    expect(standsAt(heard, (100 + 20 * 60) * 8, 60)).toBe(true)
  })

  it('a stall of the own thread for 300 ms loses no packet', () => {
    const stream = new ReceiveStream({ openedAtMs: 0 })
    const into = new Int16Array(4800)
    const out: number[] = []
    const drain = (now: number) => {
      for (let count = stream.pull(now, into); count > 0; count = stream.pull(now, into))
        out.push(...into.slice(0, count))
    }
    for (let i = 0; i < 100; i++) {
      // Packets 30 to 44 are found in the socket at once, each pulled for as it is read.
      const now = i >= 30 && i < 45 ? 900 + (i - 30) * 0.1 : i * 20
      for (let k = 0; k < PACKET; k++) packetAudio[k] = sourceSample(i * PACKET + k)
      stream.push(SSRC, i, i * PACKET, linearDecoder, linearPayload(packetAudio), 0, 2 * PACKET, now)
      drain(now)
    }
    expect([stream.late, stream.concealedSamples]).toEqual([0, 0])
    for (let i = 0; i < 100; i++) expect(standsAt(Int16Array.from(out), i * PACKET, i)).toBe(true)
  })

  it('a peer that sends too fast cannot drive the stream ahead of time', () => {
    const packets = Array.from({ length: 2000 }, (_, i) => ({ i, at: 100 + i }))
    const { stream } = run(packets, 2100)
    expect(stream.position).toBeLessThan((2100 + 220) * 8)
    expect(stream.early).toBeGreaterThan(1000)
  })

  it('packets that come up to 100 ms late are all heard, once one has come late', () => {
    const late = [0, 0, 95, 75, 100, 80, 60]
    const packets = steady(0, 200, 0).map(({ i, at }) => ({ i, at: at + late[i % late.length]! }))
    const { stream, heard } = run(packets, 5000)
    const whole = packets.filter(({ i }) => standsAt(heard, i * PACKET, i, 40))
    expect(stream.late).toBeLessThan(6)
    expect(whole.length).toBeGreaterThan(190)
    expect(whole.filter(({ i }) => i >= 20)).toHaveLength(180)
  })

  it('behind a lost packet the sound is waited for 40 ms, also while packets come up to 100 ms late', () => {
    const packets = steady(0, 300, 0).map(({ i, at }) => ({ i, at: at + (i % 50 === 10 ? 100 : 0) }))
    const { stream, heard } = run(
      packets.filter(({ i }) => i !== 40),
      41 * 20 + 45,
    )
    expect(stream.position).toBeGreaterThanOrEqual(42 * PACKET)
    expect(standsAt(heard, 41 * PACKET, 41, 80)).toBe(true)
  })

  it('a stream whose packets are in time again waits 40 ms again after two minutes', () => {
    const packets = steady(0, 6000, 0).map(({ i, at }) => ({ i, at: at + (i === 10 ? 115 : 0) }))
    const untilMs = 6000 * 20 + 60
    const { stream } = run(packets, untilMs)
    expect(stream.position).toBeGreaterThanOrEqual((untilMs - 41) * 8)
  })

  it('any packets in any order leave the stream at most 280 ms ahead and 120 ms behind', () => {
    const packet = fc.record({
      ssrc: fc.integer({ min: 1, max: 2 }),
      sequence: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 0xffff })),
      timestamp: fc.oneof(fc.integer({ min: 0, max: 6400 }), fc.integer({ min: 0, max: 0xffff_ffff })),
      length: fc.integer({ min: 0, max: 520 }),
      waitMs: fc.constantFrom(0, 0, 5, 20, 100, 1000),
    })
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 80 }), packets => {
        const stream = new ReceiveStream({ openedAtMs: OPENED })
        const decoder = new DecodingStream(PCMU, NARROWBAND)
        const payload = new Uint8Array(520).fill(0x31)
        const into = new Int16Array(480)
        let now = OPENED
        for (const { ssrc, sequence, timestamp, length, waitMs } of packets) {
          stream.push(ssrc, sequence, timestamp, decoder, payload, 0, length, now)
          for (const until = now + waitMs; ; now = Math.min(now + 20, until)) {
            const before = stream.position
            let pulled = 0
            for (let n = stream.pull(now, into); n > 0; n = stream.pull(now, into)) pulled += n
            expect(stream.position).toBe(before + pulled)
            expect(stream.position).toBeLessThanOrEqual((now - OPENED + 280) * 8)
            expect(stream.position).toBeGreaterThanOrEqual((now - OPENED - 120) * 8)
            if (now >= until) break
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('timestamps of another clock are not placed', () => {
    const { stream } = run(steady(0, 20, 100), 1000, { seq: 0, ts: 1000 })
    expect(stream.positionOf(1000 + 160)).toBe(100 * 8 + 160)
    expect(stream.positionOf(0x7000_0000)).toBe(-1)
    expect(stream.positionOf(0x9000_0000)).toBe(-1)
  })

  it('the stream stays within 20 ms of a sender whose clock differs by 120 ppm over 40 minutes', () => {
    for (const ppm of [120, -120]) {
      const stream = new ReceiveStream({ openedAtMs: 0 })
      const into = new Int16Array(480)
      const random = new SeededRandom(3)
      const payload = linearPayload(new Int16Array(PACKET).fill(3000))
      let worst = 0
      const packets = 40 * 60 * 50
      let position = 0
      for (let i = 0; i < packets; i++) {
        const sentAt = 100 + i * 20 * (1 - ppm / 1e6)
        const now = sentAt + randomBelow(random, 15)
        if (randomBelow(random, 50) !== 0)
          stream.push(SSRC, i & 0xffff, (i * PACKET) >>> 0, linearDecoder, payload, 0, 2 * PACKET, now)
        while (stream.pull(now, into) > 0);
        position = stream.positionOf((i * PACKET) >>> 0)
        worst = Math.max(worst, Math.abs(position / 8 - sentAt))
      }
      expect(worst).toBeLessThan(20)
      expect(stream.late).toBeLessThan(packets / 1000)
      expect(Math.abs(stream.skewCorrection)).toBeGreaterThan(2000)
    }
  })
})
