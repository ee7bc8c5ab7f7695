import { WIDEBAND } from '@parley/kernel'
import { resample } from '@parley/media'
import { describe, expect, it } from 'vitest'
import { activeLevel, alignWords } from './alignment.ts'
import { Demodulator } from './demodulator.ts'
import { renderWithTones } from './rendering.ts'

/** A hum in place of speech in each span: [from, until] in ms. */
function hum(lengthMs: number, ...spans: readonly (readonly [number, number])[]): Int16Array {
  const speech = new Int16Array(8 * lengthMs)
  for (const [from, until] of spans) {
    for (let n = 8 * from; n < 8 * until; n++) speech[n] = 6000 * Math.sin((2 * Math.PI * 200 * n) / 8000)
  }
  return speech
}

/** The decoded pieces of words; only the recogniser joins the pieces of a long word. */
function piecesIn(samples: Int16Array): { text: string; startMs: number; endMs: number }[] {
  const pieces: { text: string; startMs: number; endMs: number }[] = []
  const demodulator = new Demodulator(({ text }, start, end) =>
    pieces.push({ text, startMs: start / 8, endMs: end / 8 }),
  )
  demodulator.push(samples, 0, samples.length)
  demodulator.push(new Int16Array(400), 0, 400)
  return pieces
}

describe('the coded words of simulated speech', () => {
  it('the coded words of simulated speech are aligned with the speech: exactly at pauses, between pauses by their length', () => {
    const speech = hum(3000, [100, 1100], [1500, 2500])
    const words = alignWords('Good morning, who is there?', speech)
    expect(words.map(({ text }) => text)).toEqual(['Good', 'morning,', 'who', 'is', 'there?'])
    expect([words[0]!.startSample, words[1]!.endSample]).toEqual([800, 8800])
    expect([words[2]!.startSample, words[4]!.endSample]).toEqual([12_000, 20_000])
    expect(words[1]!.endSample - words[1]!.startSample).toBeGreaterThan(words[0]!.endSample - words[0]!.startSample)
  })

  it('the coded words of simulated speech are decoded in order, each while it is spoken', () => {
    const { samples, words } = renderWithTones(
      hum(4000, [30, 3900]),
      'This is how a sentence with eleven common words sounds here.',
    )
    const decoded = piecesIn(samples)
    expect(decoded.map(({ text }) => text)).toEqual(words.map(({ text }) => text))
    for (const [i, { startMs, endMs }] of decoded.entries()) {
      expect(startMs - words[i]!.startSample / 8).toBeGreaterThan(-1)
      expect(endMs - words[i]!.endSample / 8).toBeLessThan(100)
    }
  })

  it('the coded words of simulated speech are not decoded long before they are spoken', () => {
    const { samples } = renderWithTones(hum(6000, [30, 5900]), '415-555-0172')
    const pieces = piecesIn(samples)
    expect(pieces.map(({ text }) => text).join('')).toBe('415-555-0172')
    expect(pieces.at(-1)!.endMs).toBeGreaterThan(5400)
  })

  it('lengthen the audio when the speech is too short for them', () => {
    const text = 'a b c d e f g antidisestablishmentarianism'
    const { samples } = renderWithTones(hum(500, [30, 480]), text)
    expect(samples.length).toBeGreaterThan(8 * 500)
    const pieces = piecesIn(samples).map(word => word.text)
    expect(pieces.slice(0, 7).join(' ')).toBe('a b c d e f g')
    expect(pieces.slice(7).join('')).toBe('antidisestablishmentarianism')
  })

  it('the coded words of simulated speech are at least 25 dB quieter than the speech, and begin with its first sound', () => {
    const speech = hum(2000, [500, 1900])
    const { samples } = renderWithTones(speech, 'hello there')
    expect(samples.length).toBe(8 * 1530)
    const rest = samples.map((sample, n) => sample - speech[n + 8 * 470]!).subarray(400, -2000)
    expect(20 * Math.log10(activeLevel(rest) / activeLevel(speech))).toBeLessThan(-25)
  })

  it('the coded words of simulated speech are decoded from speech of 16 kHz, which keeps what is above the telephone band', () => {
    const tone = (n: number, hz: number) => Math.sin((2 * Math.PI * hz * n) / 16_000)
    const speech = Int16Array.from({ length: 64_000 }, (_, n) => 5000 * tone(n, 200) + 2000 * tone(n, 6000))
    const { samples, words } = renderWithTones(
      speech,
      'This is how a sentence with eleven common words sounds here.',
      WIDEBAND,
    )
    expect(Math.abs(samples.length - speech.length)).toBeLessThan(16 * 40)
    const decoded = piecesIn(resample(samples, 16_000, 8000))
    expect(decoded.map(({ text }) => text)).toEqual(words.map(({ text }) => text))
    let level = 0
    for (let n = 16_000; n < 48_000; n++) level += samples[n]! * tone(n, 6000)
    expect(Math.abs(level) / 16_000).toBeGreaterThan(1900)
  })
})
