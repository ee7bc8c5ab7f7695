import { randomBelow, SeededRandom } from '@parley/kernel'
import { expect, it } from 'vitest'
import { Demodulator } from './demodulator.ts'
import { addTones } from './modulator.ts'
import { SYMBOL } from './tone-line.ts'
import { framesOfWord } from './word-frame.ts'

const WORDS = 'what is said travels along with the speech as quiet tones above it'.split(' ')

/** Words with noise, with silence between them, and noise alone. */
function line(): Int16Array {
  const audio = new Float32Array(72_000)
  for (const from of [2000, 38_000]) {
    let at = from
    for (const word of WORDS)
      for (const symbols of framesOfWord(word)) {
        addTones(audio, at, symbols, 90)
        at += (symbols.length / 2 + 2) * SYMBOL
      }
  }
  const noise = new SeededRandom(6).bytes(audio.length)
  return Int16Array.from(audio, (sample, i) => sample + (i > 36_000 ? (noise[i]! - 128) / 16 : 0))
}

/** What is found when the stream comes in pieces of these lengths. */
function found(audio: Int16Array, next: () => number): unknown[] {
  const pieces: unknown[] = []
  const demodulator = new Demodulator((piece, start, end) => pieces.push({ piece, start, end }))
  for (let from = 0; from < audio.length; ) {
    const count = Math.min(next(), audio.length - from)
    demodulator.push(audio, from, count)
    from += count
  }
  return pieces
}

it('the demodulator finds the same words at the same places however the stream is cut', () => {
  const audio = line()
  const random = new SeededRandom(2)
  const whole = found(audio, () => audio.length)
  expect(whole).toHaveLength(2 * WORDS.length)
  expect(found(audio, () => 1)).toEqual(whole)
  expect(found(audio, () => 1 + randomBelow(random, 300))).toEqual(whole)
})

it('the demodulator finds the same words at the same places after digital silence of any length as after faint noise', () => {
  const random = new SeededRandom(3)
  const words = line().subarray(0, 36_000)
  for (let length = 1; length < 6000; length += 487) {
    const silent = new Int16Array(length + words.length)
    silent.set(words, length)
    const faint = silent.map(sample => (sample === 0 ? 1 - randomBelow(random, 3) : sample))
    const expected = found(faint, () => 160)
    expect(expected).toHaveLength(WORDS.length)
    expect(found(silent, () => 160)).toEqual(expected)
  }
})
