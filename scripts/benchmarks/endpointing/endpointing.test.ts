import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../../packages/kernel/src/index.ts'
import { inventCaller } from './callers.ts'
import { type Conditions, measureEndpointing } from './measure.ts'

const conditions = { turns: 360, seed: 5, endpointing: { mode: 'adaptive' } } as const
const lines: readonly Pick<Conditions, 'language' | 'punctuation'>[] = [
  { language: 'en', punctuation: true },
  { language: 'en', punctuation: false },
  { language: 'es', punctuation: true },
  { language: 'es', punctuation: false },
]
const name = ({ language, punctuation }: (typeof lines)[number]) =>
  `${language}, ${punctuation ? 'with' : 'without'} marks`

describe('the endpointing benchmark', () => {
  it.each(lines.map(line => [name(line), line] as const))(
    'endpointing in %s cuts off fewer callers than plain silence of the same mean wait or of 800 ms',
    (_, line) => {
      const own = measureEndpointing({ ...conditions, ...line })
      const silence = (silenceMs: number) =>
        measureEndpointing({ ...conditions, ...line, endpointing: { mode: 'fixed', silenceMs } })
      expect(own.pauses_cut).toBeLessThan(silence(own.wait_mean_ms).pauses_cut)
      expect(own.pauses_cut).toBeLessThan(silence(800).pauses_cut)
      expect(own.wait_mean_ms).toBeLessThan(800)
      expect(own.wait_p95_ms).toBeLessThan(2000)
    },
  )

  it.each(lines.map(line => [name(line), line] as const))(
    'a known question saves 4 in 10 cut-offs of endpointing in %s, and lengthens its mean wait by at most 30 ms',
    (_, line) => {
      const unknown = measureEndpointing({ ...conditions, ...line })
      const known = measureEndpointing({ ...conditions, ...line, knowsQuestion: true })
      expect(known.pauses_cut).toBeLessThan(0.6 * unknown.pauses_cut)
      expect(known.pauses_cut).toBeLessThanOrEqual(line.punctuation ? 0.03 : 0.085)
      expect(known.wait_mean_ms).toBeLessThanOrEqual(unknown.wait_mean_ms + 30)
    },
  )

  it('plain silence cuts off the callers whose pauses are longer', () => {
    const { pauses_cut, wait_p50_ms, wait_p95_ms } = measureEndpointing({
      ...conditions,
      ...lines[0]!,
      endpointing: { mode: 'fixed', silenceMs: 600 },
    })
    // The yardstick's 22 %, and the onset of a voice that is known 60 ms late.
    expect(pauses_cut).toBeGreaterThan(0.18)
    expect(pauses_cut).toBeLessThan(0.34)
    expect([wait_p50_ms, wait_p95_ms]).toEqual([600, 600])
  })

  it('a recogniser that ends every word with a full stop shows in the figures', () => {
    const before = measureEndpointing({ ...conditions, ...lines[0]! })
    const after = measureEndpointing({ ...conditions, ...lines[0]!, punctuation: 'after every word' })
    expect(after.pauses_cut).toBeGreaterThan(5 * before.pauses_cut)
    expect(after.turns_cut).toBeGreaterThan(0.25)
  })

  it('the same seed gives the same callers, with pauses of 200 to 2000 ms', () => {
    const callers = inventCaller('en', 200, new SeededRandom(3))
    expect(inventCaller('en', 200, new SeededRandom(3))).toEqual(callers)
    const pauses = callers.flatMap(turn => turn.pauses.map(({ from, until }) => until - from))
    expect(pauses.length).toBeGreaterThan(100)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(200)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(2000)
  })
})
