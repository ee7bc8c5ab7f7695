import { SeededRandom } from '@parley/kernel'
import { VoiceActivity } from '@parley/media'
import { describe, expect, it } from 'vitest'
import { addTones } from './modulator.ts'
import { toneBandFilter } from './tone-band-filter.ts'
import { SYMBOL } from './tone-line.ts'
import { framesOfWord } from './word-frame.ts'

const WORDS = 'what is said travels along with the speech as quiet tones above it'.split(' ')

function edges(audio: Int16Array, filtered: boolean) {
  const filter = toneBandFilter()
  const voice = new VoiceActivity()
  const block = new Int16Array(160)
  const found: [string, number][] = []
  for (let at = 0; at + 160 <= audio.length; at += 160) {
    if (filtered) filter.filter(audio, at, 160, block, 0)
    else block.set(audio.subarray(at, at + 160))
    voice.push(filtered ? at - filter.delay : at, block, 0, 160)
    for (let edge = voice.take(); edge !== null; edge = voice.take()) found.push([edge, voice.position])
  }
  return found
}

/** Adds a buzz of 120 Hz with harmonics, which voice activity detection takes for speech. */
function addVowel(audio: Float32Array, from: number, until: number): void {
  for (let n = from; n < until; n++) {
    for (let k = 1; k <= 20; k++) audio[n]! += (1500 / k) * Math.sin((2 * Math.PI * 120 * k * n) / 8000)
  }
}

function addWords(audio: Float32Array, from: number, rms: number): number {
  let at = from
  for (const word of WORDS) {
    for (const symbols of framesOfWord(word)) {
      addTones(audio, at, symbols, rms)
      at += (symbols.length / 2 + 2) * SYMBOL
    }
  }
  return at
}

describe('the tone band filter', () => {
  it('the tone band filter leaves speech edges where they were without the tones', () => {
    const bare = new Float32Array(48_000)
    const noise = new SeededRandom(3).bytes(bare.length)
    for (let i = 0; i < bare.length; i++) bare[i] = (noise[i]! - 128) / 20
    for (const from of [8000, 22_000, 36_000]) addVowel(bare, from, from + 6000)
    const toned = bare.slice()
    // 8 dB louder than the tones of such speech, and longer than the speech.
    for (const from of [7000, 20_000, 33_000]) addWords(toned, from, 200)
    const expected = edges(Int16Array.from(bare), true)
    expect(expected.length).toBe(6)
    expect(edges(Int16Array.from(toned), true)).toEqual(expected)
    expect(edges(Int16Array.from(toned), false)).not.toEqual(expected)
  })

  it('the tone band filter removes tones without speech completely, however loud they are', () => {
    const audio = new Float32Array(48_000)
    addWords(audio, 4000, 2000)
    expect(edges(Int16Array.from(audio), true)).toEqual([])
  })

  it('the tone band filter passes audio up to 2500 Hz unchanged, after its delay', () => {
    const filter = toneBandFilter()
    for (const hz of [100, 300, 1000, 2000, 2500]) {
      const audio = Int16Array.from({ length: 4000 }, (_, n) => 8000 * Math.sin((2 * Math.PI * hz * n) / 8000))
      const out = new Int16Array(4000)
      filter.reset()
      filter.filter(audio, 0, 4000, out, 0)
      for (let n = 500; n < 4000; n++) expect(Math.abs(out[n]! - audio[n - filter.delay]!)).toBeLessThan(60)
    }
  })
})

it('a pause of zeros is filtered like any other audio', () => {
  const random = new SeededRandom(3)
  const audio = Int16Array.from({ length: 4000 }, (_, n) =>
    n > 1000 && n < 2500 ? 0 : (random.bytes(1)[0]! - 128) * 100,
  )
  const [whole, offset] = [toneBandFilter(), toneBandFilter()]
  const filtered = new Int16Array(audio.length)
  whole.filter(audio, 0, audio.length, filtered, 0)
  // The same audio with a direct current of one, which no filter takes for zeros.
  const shifted = new Int16Array(audio.length)
  offset.filter(
    Int16Array.from(audio, sample => sample + 1),
    0,
    audio.length,
    shifted,
    0,
  )
  const settled = 2 * whole.delay
  expect(filtered.subarray(settled).every((sample, i) => Math.abs(shifted[settled + i]! - sample - 1) <= 1)).toBe(true)
  expect(filtered.subarray(1000 + settled + 1, 2500).every(sample => sample === 0)).toBe(true)
})
