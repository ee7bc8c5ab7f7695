import { randomBelow, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { BandWords, LowPassFilter, type LowPassMemory, MOST_TAPS } from './low-pass-filter.ts'
import { lowPass } from './windowed-sinc.ts'

const DESIGN = { passHz: 2550, stopHz: 2880, stopbandDb: 55 }

const memory = (): LowPassMemory => ({
  state: new Float64Array(BandWords.names.length),
  taps: new Float64Array(MOST_TAPS),
  history: new Int16Array(MOST_TAPS),
})

/** Noise, silence and full scale in turns. */
function sound(samples: number): Int16Array {
  const random = new SeededRandom(4)
  return Int16Array.from({ length: samples }, (_, i) => {
    const part = Math.floor(i / 700) % 3
    if (part === 1) return 0
    return part === 0 ? randomBelow(random, 4000) - 2000 : randomBelow(random, 2) * 65_535 - 32_768
  })
}

/** One output after the other, by the definition. */
function filtered(audio: Int16Array): Int16Array {
  const taps = lowPass(DESIGN)
  const half = taps.length >> 1
  const at = (place: number) => audio[place] ?? 0
  return Int16Array.from(audio, (_, newest) => {
    let sum = taps[half]! * at(newest - half)
    for (let k = 0; k < half; k++) sum += taps[k]! * (at(newest - taps.length + 1 + k) + at(newest - k))
    return Math.max(-32_768, Math.min(32_767, Math.round(sum)))
  })
}

describe('a low-pass over a stream', () => {
  it('filters each sample as the definition says, however the stream is cut and wherever its memory is', () => {
    const audio = sound(12_000)
    const expected = filtered(audio)
    const random = new SeededRandom(9)
    const cuts = [() => audio.length, () => 160, () => 1, () => 1 + randomBelow(random, 480)]
    for (const filter of [new LowPassFilter(DESIGN), new LowPassFilter(DESIGN, memory())])
      for (const cut of cuts) {
        filter.reset()
        const made = new Int16Array(audio.length)
        for (let from = 0; from < audio.length; ) {
          const count = Math.min(cut(), audio.length - from)
          filter.filter(audio, from, count, made, from)
          from += count
        }
        expect(made).toEqual(expected)
      }
  })

  it('a low-pass over a stream has memory of its own when it has more taps than the given one', () => {
    const shared = memory()
    const sharp = new LowPassFilter({ ...DESIGN, stopHz: 2600 }, shared)
    expect([sharp.isInMemory, shared.state[0]]).toEqual([false, 0])
    expect([new LowPassFilter(DESIGN, shared).isInMemory, shared.state[0]]).toEqual([true, lowPass(DESIGN).length])
  })
})
