import { getHeapStatistics } from 'node:v8'
import { randomBelow, SeededRandom, WIDEBAND } from '@parley/kernel'
import { beforeAll, describe, expect, it } from 'vitest'
import { VirtualCall } from '../session/testing/virtual-call.ts'
import { loadOpus, OPUS } from './opus.ts'

const FRAME = 320
/** Encoder and decoder delay the sound by less than 15 ms. */
const LONGEST_DELAY = 240

/** A voice-like sound: harmonics of 150 Hz up to 7 kHz, whose loudness varies. */
function voice(samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, i) => {
    const t = i / 16_000
    let sum = 0
    for (let harmonic = 1; harmonic <= 40; harmonic++) sum += Math.sin(2 * Math.PI * 150 * harmonic * t) / harmonic
    return 5000 * (0.6 + 0.4 * Math.sin(2 * Math.PI * 3 * t)) * sum
  })
}

function packetsOf(audio: Int16Array, fmtp: string | null = null): Uint8Array[] {
  const encoder = OPUS.createEncoder(fmtp)
  const packets: Uint8Array[] = []
  for (let at = 0; at + FRAME <= audio.length; at += FRAME) {
    const packet = new Uint8Array(1000)
    packets.push(packet.subarray(0, encoder.encode(audio, at, FRAME, packet, 0)))
  }
  return packets
}

/** Of the original with the decoded sound, at the delay where it is highest. */
function likeness(original: Int16Array, decoded: Int16Array, from: number, to: number): number {
  let best = 0
  for (let delay = 0; delay <= LONGEST_DELAY; delay += 2)
    best = Math.max(best, correlation(original.subarray(from, to), decoded.subarray(from + delay, to + delay)))
  return best
}

function correlation(a: Int16Array, b: Int16Array): number {
  let ab = 0
  let aa = 0
  let bb = 0
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    ab += a[i]! * b[i]!
    aa += a[i]! ** 2
    bb += b[i]! ** 2
  }
  return ab / Math.sqrt(aa * bb)
}

describe('Opus', () => {
  beforeAll(() => loadOpus())

  it('Opus carries a voice up to 7 kHz in less than a quarter of the bytes of G.711', () => {
    const audio = voice(32_000)
    const packets = packetsOf(audio)
    const decoder = OPUS.createDecoder()
    const back = new Int16Array(32_000)
    for (const [i, packet] of packets.entries())
      expect(decoder.decode(packet, 0, packet.length, back, i * FRAME)).toBe(FRAME)
    expect(likeness(audio, back, 8000, 24_000)).toBeGreaterThan(0.8)
    const bytes = packets.reduce((sum, packet) => sum + packet.length, 0)
    expect(bytes).toBeLessThan(16_000 / 4)
    expect(bytes).toBeGreaterThan(2000)
  })

  it('a peer that asks for DTX gets no packets of silence, and one that does not gets all of them', () => {
    const silence = new Int16Array(32_000)
    const sent = (fmtp: string | null) => packetsOf(silence, fmtp).filter(packet => packet.length > 0).length
    expect(sent('usedtx=1')).toBeLessThan(30)
    expect(sent(null)).toBe(100)
  })

  it('silence after a sentence costs one byte per packet, and nothing for a peer that asks for DTX', () => {
    const sizes = (fmtp: string | null) => {
      const encoder = OPUS.createEncoder(fmtp)
      const packet = new Uint8Array(1000)
      const audio = voice(FRAME * 20)
      for (let i = 0; i < 20; i++) encoder.encode(audio, i * FRAME, FRAME, packet, 0)
      const silence = new Int16Array(FRAME)
      return Array.from({ length: 100 }, () => encoder.encode(silence, 0, FRAME, packet, 0, true)).slice(10)
    }
    expect(sizes(null).filter(size => size === 1).length).toBeGreaterThan(80)
    expect(sizes(null).every(size => size > 0)).toBe(true)
    expect(sizes('usedtx=1').filter(size => size === 0).length).toBeGreaterThan(80)
  })

  it.each([null, 'usedtx=1'])('a sentence after silence sounds as if the silence had been encoded, with %s', fmtp => {
    const sentence = voice(FRAME * 50)
    const pause = new Int16Array(FRAME)
    const heardWith = (isSilence: boolean) => {
      const encoder = OPUS.createEncoder(fmtp)
      const decoder = OPUS.createDecoder()
      const packet = new Uint8Array(1000)
      const heard = new Int16Array(FRAME * 200)
      for (let i = 0; i < 200; i++) {
        const isSpoken = i % 100 < 50
        const length = isSpoken
          ? encoder.encode(sentence, (i % 100) * FRAME, FRAME, packet, 0)
          : encoder.encode(pause, 0, FRAME, packet, 0, isSilence)
        if (length > 0) decoder.decode(packet, 0, length, heard, i * FRAME)
      }
      return heard
    }
    const heard = heardWith(true)
    const second = (audio: Int16Array) => likeness(sentence, audio.subarray(FRAME * 100), 0, 12_000)
    expect(second(heard)).toBeGreaterThan(second(heardWith(false)) - 0.03)
    expect(Math.max(...heard.subarray(FRAME * 65, FRAME * 100).map(Math.abs))).toBeLessThan(200)
  })

  it('redundancy is sent while the peer reports loss, and no more when it reports none', () => {
    const encoder = OPUS.createEncoder('useinbandfec=1')
    const audio = voice(FRAME * 50)
    const packet = new Uint8Array(1000)
    const into = new Int16Array(FRAME)
    const restorable = () => {
      const decoder = OPUS.createDecoder()
      let count = 0
      for (let i = 0; i < 50; i++) {
        const length = encoder.encode(audio, i * FRAME, FRAME, packet, 0)
        if (decoder.recover!(packet, 0, length, into, 0, FRAME) > 0) count++
        decoder.decode(packet, 0, length, into, 0)
      }
      return count
    }
    expect(restorable()).toBeGreaterThan(25)
    for (let i = 0; i < 6; i++) encoder.reportLoss!(0)
    expect(restorable()).toBeLessThan(5)
    encoder.reportLoss!(0.1)
    expect(restorable()).toBeGreaterThan(25)
  })

  it('a peer that limits the bit rate gets no more, and with cbr=1 packets of one size', () => {
    const sizesFor = (fmtp: string | null) => packetsOf(voice(32_000), fmtp).map(packet => packet.length)
    const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)
    const limited = sizesFor('maxaveragebitrate=8000')
    // Two seconds at 8 kbit/s are 2,000 bytes.
    expect(sum(limited)).toBeLessThan(2200)
    expect(sum(limited)).toBeLessThan(0.7 * sum(sizesFor(null)))
    expect(new Set(sizesFor('cbr=1'))).toHaveLength(1)
    expect(new Set(sizesFor(null)).size).toBeGreaterThan(1)
  })

  it('a peer that plays 8 kHz gets no sound above 4 kHz', () => {
    const configurations = (fmtp: string | null) => new Set(packetsOf(voice(32_000), fmtp).map(([toc]) => toc! >> 3))
    // RFC 6716 section 3.1, table 2: 0 to 3 and 16 to 19 are narrowband.
    const isNarrow = (config: number) => config < 4 || (config >= 16 && config < 20)
    expect([...configurations('maxplaybackrate=8000')].every(isNarrow)).toBe(true)
    expect([...configurations(null)].some(isNarrow)).toBe(false)
  })

  it('a packet is encoded and decoded without an allocation', () => {
    const audio = voice(FRAME * 50)
    const encoder = OPUS.createEncoder('useinbandfec=1')
    const decoder = OPUS.createDecoder()
    const packet = new Uint8Array(1500)
    const back = new Int16Array(1920)
    const run = (rounds: number) => {
      for (let i = 0; i < rounds; i++) {
        const length = encoder.encode(audio, (i % 50) * FRAME, FRAME, packet, 0)
        decoder.decode(packet, 0, length, back, 0)
        decoder.recover!(packet, 0, length, back, 0, FRAME)
      }
    }
    run(200)
    const used = () => getHeapStatistics().used_heap_size + process.memoryUsage().arrayBuffers
    const perPacket = Array.from({ length: 3 }, () => {
      const before = used()
      run(500)
      return (used() - before) / 500
    })
    // The median: a collection or the compiler may fall into one round.
    expect(perPacket.toSorted((a, b) => a - b)[1]).toBeLessThan(200)
  })

  it('bytes that are no Opus are never more than noise or nothing, and the decoder goes on', () => {
    const decoder = OPUS.createDecoder()
    const random = new SeededRandom(7)
    const into = new Int16Array(1920)
    for (let i = 0; i < 500; i++) {
      const packet = Uint8Array.from({ length: randomBelow(random, 200) }, () => randomBelow(random, 256))
      expect(decoder.decode(packet, 0, packet.length, into, 0)).toBeLessThanOrEqual(1920)
    }
    const [packet] = packetsOf(voice(FRAME))
    expect(decoder.decode(packet!, 0, packet!.length, into, 0)).toBe(FRAME)
  })
})

/** From the first sound on. */
function fromOnset(audio: Int16Array): Int16Array {
  return audio.subarray(Math.max(0, audio.findIndex(sample => Math.abs(sample) > 300) - 120))
}

describe('a session with Opus', () => {
  beforeAll(() => loadOpus())

  async function heardOf({ loss = 0, fmtp = null }: { loss?: number; fmtp?: string | null }) {
    const call = await VirtualCall.start({
      codec: 'OPUS',
      session: { format: WIDEBAND },
      conditions: { loss },
    })
    call.apply({ a: { codecFmtp: fmtp } })
    call.a.session.play(voice(48_000))
    const heard: number[] = []
    const block = new Int16Array(FRAME)
    for (let ms = 0; ms < 3500; ms += 20) {
      call.time.advance(20)
      for (let n = call.b.session.readHeard(block); n > 0; n = call.b.session.readHeard(block))
        heard.push(...block.subarray(0, n))
    }
    const { concealedSamples } = await call.b.session.statistics()
    return { heard: Int16Array.from(heard), concealedSamples }
  }

  it('three seconds of voice arrive whole and in time at the RTP clock of 48 kHz', async () => {
    const { heard, concealedSamples } = await heardOf({})
    expect(concealedSamples).toBe(0)
    expect(heard.filter(sample => Math.abs(sample) > 100).length).toBeGreaterThan(40_000)
    expect(Math.abs(heard.length - 3500 * 16)).toBeLessThan(100 * 16)
  })

  it('a lost packet is restored from the redundancy in the next, for a peer that uses FEC', async () => {
    const without = await heardOf({ loss: 0.1 })
    const restored = await heardOf({ loss: 0.1, fmtp: 'useinbandfec=1' })
    expect(without.concealedSamples).toBeGreaterThan(6 * FRAME)
    expect(restored.concealedSamples).toBeLessThan(without.concealedSamples / 2)
    expect(likeness(voice(48_000), fromOnset(restored.heard), 8000, 40_000)).toBeGreaterThan(0.7)
  })
})
