import { type AudioFormat, NARROWBAND, randomBelow, SeededRandom, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { MediaEvent } from './media-session.ts'
import { VirtualCall, type VirtualCallOptions } from './testing/virtual-call.ts'
import type { NetworkConditions } from './virtual-packet-network.ts'

/** RMS of a tone that is played, at half of full scale. */
const LEVEL = 16_384 / Math.SQRT2

function tones(format: AudioFormat, ms: number, ...hz: readonly number[]): Int16Array {
  const rate = format.sampleRateHz
  return Int16Array.from({ length: (ms * rate) / 1000 }, (_, i) =>
    Math.round((hz.reduce((sum, f) => sum + Math.sin((2 * Math.PI * f * i) / rate), 0) * 16_384) / hz.length),
  )
}

/** RMS of what `audio` has at `hz`. */
function levelAt(audio: Int16Array, hz: number, { sampleRateHz }: AudioFormat): number {
  let real = 0
  let imaginary = 0
  for (let i = 0; i < audio.length; i++) {
    real += audio[i]! * Math.cos((2 * Math.PI * hz * i) / sampleRateHz)
    imaginary += audio[i]! * Math.sin((2 * Math.PI * hz * i) / sampleRateHz)
  }
  return (Math.hypot(real, imaginary) / audio.length) * Math.SQRT2
}

async function callOf(options: VirtualCallOptions) {
  const call = await VirtualCall.start({ session: { format: WIDEBAND }, ...options })
  const heard: number[] = []
  const block = new Int16Array(320)
  const run = (ms: number) => {
    for (let left = ms; left > 0; left -= 20) {
      call.time.advance(20)
      for (let n = call.b.session.readHeard(block); n > 0; n = call.b.session.readHeard(block))
        heard.push(...block.subarray(0, n))
    }
  }
  return { call, run, heard }
}

describe('a session of 16 kHz', () => {
  it('a session of 16 kHz carries a tone of 6 kHz over G.722 at its level', async () => {
    const { call, run, heard } = await callOf({ codec: 'G722' })
    call.a.session.play(tones(WIDEBAND, 2000, 6000))
    run(2500)
    const middle = Int16Array.from(heard).subarray(8000, 24_000)
    expect(20 * Math.log10(levelAt(middle, 6000, WIDEBAND) / LEVEL)).toBeGreaterThan(-1)
    expect(20 * Math.log10(levelAt(middle, 6000, WIDEBAND) / LEVEL)).toBeLessThan(1)
    expect(call.b.session.format).toEqual(WIDEBAND)
  })

  it('positions of a session of 16 kHz count its own samples: two seconds are 32,000', async () => {
    const { call, run, heard } = await callOf({ codec: 'G722' })
    expect(call.a.session.play(tones(WIDEBAND, 2000, 1000))).toBe(32_000)
    run(3000)
    expect(call.a.session.played()).toBe(32_000)
    expect(Math.abs(heard.length - 3000 * 16)).toBeLessThan(100 * 16)
    expect(call.b.session.heardPosition()).toBeGreaterThan(2900 * 16)
  })

  it('audio of 16 kHz for a G.711 peer keeps the telephone band and has no aliases', async () => {
    const { call, run, heard } = await callOf({ codec: 'PCMU', formatB: NARROWBAND })
    call.a.session.play(tones(WIDEBAND, 2000, 1000, 6000))
    run(2500)
    const middle = Int16Array.from(heard).subarray(4000, 12_000)
    expect(20 * Math.log10(levelAt(middle, 1000, NARROWBAND) / (LEVEL / 2))).toBeGreaterThan(-1)
    expect(20 * Math.log10(levelAt(middle, 2000, NARROWBAND) / (LEVEL / 2))).toBeLessThan(-40)
  })

  it('audio of a G.711 peer is received at 16 kHz', async () => {
    const { call, run, heard } = await callOf({
      codec: 'PCMA',
      session: { format: NARROWBAND },
      formatB: WIDEBAND,
    })
    call.a.session.play(tones(NARROWBAND, 2000, 1000))
    run(2500)
    const middle = Int16Array.from(heard).subarray(8000, 24_000)
    expect(20 * Math.log10(levelAt(middle, 1000, WIDEBAND) / LEVEL)).toBeGreaterThan(-1)
    expect(20 * Math.log10(levelAt(middle, 7000, WIDEBAND) / LEVEL)).toBeLessThan(-40)
  })

  it('a session of 16 kHz is recorded at 16 kHz, both directions in step and with what is above the telephone band', async () => {
    const { call, run } = await callOf({ codec: 'G722' })
    run(1000)
    call.a.session.play(tones(WIDEBAND, 500, 6000))
    run(2000)
    await call.a.session.close()
    const sent = call.a.plane.captured(call.a.session).right
    const received = call.b.plane.captured(call.b.session).left
    expect(Math.abs(sent.length - 3000 * 16)).toBeLessThanOrEqual(20 * 16)
    // 20 ms of network, up to 20 ms of slot, and the filters of the codec.
    const delayMs = (firstLoud(received) - firstLoud(sent)) / 16
    expect(delayMs).toBeGreaterThan(15)
    expect(delayMs).toBeLessThan(60)
    for (const channel of [sent, received]) {
      const from = firstLoud(channel) + 1600
      expect(20 * Math.log10(levelAt(channel.subarray(from, from + 3200), 6000, WIDEBAND) / LEVEL)).toBeGreaterThan(-1)
    }
  })

  it('digits and voice of a session of 16 kHz have positions on its own clock', async () => {
    const { call, run } = await callOf({ codec: 'G722' })
    run(1000)
    call.a.session.sendDigits('5')
    run(500)
    const digit = call.b.events.find((event): event is MediaEvent & { type: 'digit' } => event.type === 'digit')
    expect(digit!.digit).toBe('5')
    expect(digit!.atSample / 16).toBeGreaterThan(950)
    expect(digit!.atSample / 16).toBeLessThan(1150)
  })

  it('G.722 audio recovers within a packet after a lost packet', async () => {
    const { call, run, heard } = await callOf({ codec: 'G722', conditions: { loss: 0.05 }, seed: 3 })
    call.a.session.play(tones(WIDEBAND, 3000, 1000))
    run(3500)
    const middle = Int16Array.from(heard).subarray(8000, 40_000)
    expect(20 * Math.log10(levelAt(middle, 1000, WIDEBAND) / LEVEL)).toBeGreaterThan(-2)
  })

  it('G.722 packets that overtake each other or arrive twice sound exactly as packets in order', async () => {
    const heardWith = async (conditions: NetworkConditions) => {
      const { call, run, heard } = await callOf({ codec: 'G722', conditions, seed: 5 })
      call.a.session.play(noise(3000))
      run(3500)
      return Int16Array.from(heard)
    }
    const inOrder = await heardWith({})
    const overtaking = await heardWith({ reorder: 0.1, duplicate: 0.1 })
    const piece = 16_000
    const from = inOrder.length / 2
    expect(indexOfAudio(overtaking, inOrder.subarray(from, from + piece))).toBeGreaterThan(0)
  })
})

/** `ms` of noise at a moderate level, the same each time. */
function noise(ms: number): Int16Array {
  const random = new SeededRandom(1)
  return Int16Array.from({ length: 16 * ms }, () => randomBelow(random, 8000) - 4000)
}

/** Where exactly this piece of audio stands in `audio`; -1: nowhere. */
function indexOfAudio(audio: Int16Array, piece: Int16Array): number {
  return bytesOf(audio).indexOf(bytesOf(piece))
}

function bytesOf(audio: Int16Array): Buffer {
  return Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength)
}

function firstLoud(audio: Int16Array): number {
  return audio.findIndex(sample => Math.abs(sample) > 3000)
}
