import type { TimelineItem } from '@parley/conversation'
import { expect, it } from 'vitest'
import { latencyChanges, turnSummaries } from './turn-changes.ts'

const spoken = (role: 'user' | 'agent', index: number, text: string) => ({ kind: 'utterance', role, index, text })
const answeredAfter = (index: number, e2e: number | null) => ({ kind: 'turn', index, latency: { e2e } })

/** A conversation of two turns of the caller, the answers of which come after these times. */
const conversation = (first: number | null, second: number | null) =>
  turnSummaries([
    spoken('agent', 0, 'Hello.'),
    spoken('user', 1, 'A room, please.'),
    answeredAfter(2, first),
    spoken('agent', 2, 'For when?'),
    spoken('user', 3, 'For Monday.'),
    spoken('agent', 4, 'Booked.'),
    answeredAfter(4, second),
  ] as unknown as TimelineItem[])

it('an answer that comes at least 100 ms earlier or later is a change of latency in its turn', () => {
  expect(latencyChanges(conversation(620, 700), conversation(700, 1320), 3)).toEqual([
    { turn: 2, kind: 'latency', before: '700 ms', after: '1320 ms' },
  ])
  expect(latencyChanges(conversation(620, 700), conversation(400, 700), 3)).toEqual([
    { turn: 1, kind: 'latency', before: '620 ms', after: '400 ms' },
  ])
})

it('latencies are compared only in turns that were replayed, and where both answers were heard', () => {
  expect(latencyChanges(conversation(620, 700), conversation(1620, 1700), 1)).toEqual([])
  expect(latencyChanges(conversation(null, 700), conversation(620, null), 3)).toEqual([])
})
