import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { loudness } from '../resemblance.ts'
import { DAMAGE_FRAME, LineDamage, type LineDamageOptions } from './line-damage.ts'

const SILENCE = new Int16Array(DAMAGE_FRAME)

function tone(frames: number): Int16Array {
  return Int16Array.from({ length: frames * DAMAGE_FRAME }, (_, i) => 8000 * Math.sin((2 * Math.PI * 400 * i) / 8000))
}

function passed(options: LineDamageOptions, sent: Int16Array, heard: Int16Array = new Int16Array(sent.length)) {
  const damage = new LineDamage(options, new SeededRandom(5))
  const out = new Int16Array(sent.length)
  for (let at = 0; at < sent.length; at += DAMAGE_FRAME)
    out.set(damage.pass(sent.subarray(at, at + DAMAGE_FRAME), heard.subarray(at, at + DAMAGE_FRAME)), at)
  return out
}

describe('damage to a caller’s line', () => {
  it('a line without damage passes audio unchanged', () => {
    const sent = tone(20)
    expect(passed({}, sent)).toEqual(sent)
    expect(LineDamage.changes({})).toBe(false)
  })

  it.each(['room', 'car', 'street', 'babble', 'music'] as const)(
    'background noise of kind %s has the level below speech that was asked for',
    kind => {
      const noise = passed({ background: { kind, snrDb: 20 } }, new Int16Array(200 * DAMAGE_FRAME))
      expect(20 * Math.log10(loudness(noise))).toBeCloseTo(-40, 0)
    },
  )

  it('an echo returns what the caller hears, later and quieter', () => {
    const heard = tone(50)
    const out = passed({ echo: { levelDb: -20, delayMs: 100 } }, new Int16Array(heard.length), heard)
    expect(loudness(out.subarray(0, 800))).toBe(0)
    expect(loudness(out.subarray(800))).toBeCloseTo(loudness(heard) / 10, 3)
  })

  it('lost frames have the share and the length that were asked for, and are concealed', () => {
    const sent = tone(20_000)
    const out = passed({ loss: 0.05, lossBurst: 3 }, sent)
    let lost = 0
    let bursts = 0
    let before = false
    for (let at = 0; at < sent.length; at += DAMAGE_FRAME) {
      const differs = out.subarray(at, at + DAMAGE_FRAME).some((value, i) => Math.abs(value - sent[at + i]!) > 300)
      if (differs) lost++
      if (differs && !before) bursts++
      before = differs
    }
    expect(lost / 20_000).toBeGreaterThan(0.03)
    expect(lost / 20_000).toBeLessThan(0.07)
    expect(lost / bursts).toBeGreaterThan(2)
  })

  it('a second codec on the way quantises the audio and keeps its level', () => {
    const sent = tone(20)
    const out = passed({ transcoded: true }, sent)
    expect(out).not.toEqual(sent)
    expect(loudness(out)).toBeCloseTo(loudness(sent), 2)
    expect(loudness(passed({ transcoded: true }, SILENCE.slice()))).toBeLessThan(0.001)
  })
})
