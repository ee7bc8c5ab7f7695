import type { TextToSpeech } from '@parley/providers'
import { describe, expect, it } from 'vitest'
import { firstChange } from './replay/true-changes.ts'
import { TurnCounts } from './replay/turn-counts.ts'
import { proveReplay } from './replay.ts'

const options = (count: number) => ({ count, seed: 7, seconds: 60, line: () => {}, progress: () => {} })

/** A voice with one other sample in each sentence. */
function otherVoice(voice: TextToSpeech): TextToSpeech {
  return {
    id: voice.id,
    languages: voice.languages,
    readiness: async () => null,
    async *synthesize(request, signal) {
      for await (const chunk of voice.synthesize(request, signal)) {
        chunk.samples[chunk.samples.length >> 1]! += 1
        yield chunk
      }
    },
    close: async () => {},
  }
}

describe('the proof "replay": calls are repeated from their logs, and flows are mutated', { timeout: 600_000 }, () => {
  it('every call is repeated sample by sample, and replays name the turns that a mutation changes', async () => {
    expect(await proveReplay(options(3))).toMatchObject({
      ok: true,
      summary: { calls: 3, identical: 3, cancelled: { calls: 1, identical: 1 }, mutations: 2, precision: 1, recall: 1 },
    })
  })

  it('the proof "replay" fails when the repeated audio has another sample', async () => {
    expect(await proveReplay(options(1), otherVoice)).toMatchObject({ ok: false, summary: { identical: 0 } })
  })

  it.each([
    ['a turn too late', [0, 1, 2], [2], 1, { precision: 0, recall: 0 }],
    ['no change', [0, 1, 2], [], 1, { precision: 1, recall: 0 }],
    ['a change that is none', [0, 1], [1], null, { precision: 0, recall: 1 }],
    ['the change', [0, 1], [1], 1, { precision: 1, recall: 1 }],
  ] as const)(
    'a replay that says %s has the precision and recall that it deserves',
    (_, turns, changed, truth, figures) => {
      const counts = new TurnCounts()
      counts.add(turns, new Set<number>(changed), truth)
      expect({ precision: counts.precision, recall: counts.recall }).toEqual(figures)
    },
  )

  it('the first turn in which an agent does something else is the one that changed', () => {
    expect(firstChange([['says a'], ['says b']], [['says a'], ['says b', 'runs c']])).toBe(1)
    expect(firstChange([['says a'], ['says b']], [['says a']])).toBe(1)
    expect(firstChange([['says a']], [['says a']])).toBeNull()
  })
})
