import { randomBelow, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { Concealment } from './concealment.ts'
import { SyntheticSound } from './testing/synthetic-sound.ts'

const PACKET = 160

/** Plays `speech` with the packets of `lost` missing. */
function play(speech: Int16Array, lost: ReadonlySet<number>): Int16Array {
  const concealment = new Concealment()
  const heard = speech.slice()
  for (let at = 0; at < heard.length; at += PACKET) {
    if (lost.has(at / PACKET)) concealment.conceal(heard, at, PACKET)
    else concealment.good(heard, at, PACKET)
  }
  return heard
}

function biggestStep(samples: Int16Array): number {
  let biggest = 0
  for (let i = 1; i < samples.length; i++) biggest = Math.max(biggest, Math.abs(samples[i]! - samples[i - 1]!))
  return biggest
}

/** Signal to noise over the lost packets and those behind them, dB: zero-insertion alone would have about 0. */
function snrAround(speech: Int16Array, heard: Int16Array, lost: ReadonlySet<number>): number {
  let signal = 0
  let noise = 0
  for (const packet of lost)
    for (let i = packet * PACKET; i < (packet + 1) * PACKET; i++) {
      signal += speech[i]! ** 2
      noise += (speech[i]! - heard[i]!) ** 2
    }
  return 10 * Math.log10(signal / noise)
}

function randomLoss(packets: number, percent: number): Set<number> {
  const random = new SeededRandom(7)
  const lost = new Set<number>()
  for (let i = 5; i < packets; i++) if (randomBelow(random, 100) < percent) lost.add(i)
  return lost
}

describe('concealment', () => {
  it.each([95, 125, 180, 230])(
    'at 2 % loss of voiced sound is at least 4 dB better than silence: pitch of $0 Hz that moves by 2 %',
    pitchHz => {
      const { samples } = new SyntheticSound(20_000).vowel(0, 20_000, -20, { pitchHz, vibrato: 0.02, syllables: true })
      const lost = randomLoss(samples.length / PACKET, 2)
      const zeros = samples.slice()
      for (const packet of lost) zeros.fill(0, packet * PACKET, (packet + 1) * PACKET)
      const gained = snrAround(samples, play(samples, lost), lost) - snrAround(samples, zeros, lost)
      expect(lost.size).toBeGreaterThan(10)
      expect(gained).toBeGreaterThan(4)
    },
  )

  it('concealment at any loss has no steps between samples much above those of the speech', () => {
    const { samples } = new SyntheticSound(20_000).vowel(0, 20_000, -20, { syllables: true })
    const own = biggestStep(samples)
    for (const percent of [2, 10, 30])
      expect(biggestStep(play(samples, randomLoss(samples.length / PACKET, percent)))).toBeLessThan(1.25 * own)
  })

  it('concealment fades by 20 % per 10 ms after the first 10 ms and is silent from 60 ms on', () => {
    const { samples } = new SyntheticSound(400).tones(0, 400, -15, 200)
    const concealment = new Concealment()
    concealment.good(samples, 0, samples.length)
    const made = new Int16Array(800)
    expect(concealment.conceal(made, 0, 800)).toBe(480)
    const peaks = Array.from({ length: 10 }, (_, i) => Math.max(...made.slice(80 * i, 80 * (i + 1))))
    const peak = Math.max(...samples)
    for (const [i, expected] of [1, 1, 0.8, 0.6, 0.4, 0.2].entries()) {
      expect(peaks[i]! / peak).toBeLessThan(expected * 1.05 + 0.01)
      expect(peaks[i]! / peak).toBeGreaterThan(expected * 0.75 - 0.05)
    }
    expect(new Set(made.slice(480))).toEqual(new Set([0]))
  })

  it('concealment does not depend on the size of pieces', () => {
    const { samples } = new SyntheticSound(200).vowel(0, 200, -20)
    const whole = new Int16Array(600)
    const pieces = new Int16Array(600)
    const [one, other] = [new Concealment(), new Concealment()]
    one.good(samples.slice(), 0, samples.length)
    one.conceal(whole, 0, 600)
    for (let at = 0; at < samples.length; at += 40) other.good(samples.slice(), at, 40)
    for (let at = 0; at < 600; at += 20) other.conceal(pieces, at, 20)
    expect(pieces).toEqual(whole)
  })

  it('concealment after silence is silent, and audio without loss is unchanged', () => {
    const concealment = new Concealment()
    const nothing = new Int16Array(160).fill(99)
    concealment.conceal(nothing, 0, 160)
    expect(new Set(nothing)).toEqual(new Set([0]))
    const fresh = new Concealment()
    const { samples } = new SyntheticSound(100).vowel(0, 100, -20)
    const untouched = samples.slice()
    for (let at = 0; at < samples.length; at += 160) fresh.good(samples, at, 160)
    expect(samples).toEqual(untouched)
  })
})
