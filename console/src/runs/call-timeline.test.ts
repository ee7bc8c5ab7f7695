import { expect, it } from 'vitest'
import { axisSteps, callTimeline, type TimelineItem, turnAt, wordsOf } from './call-timeline.ts'

let seq = 0
const item = (offset_ms: number | null, fields: Record<string, unknown>) =>
  ({ seq: ++seq, at: '2026-11-23T10:00:00.000Z', offset_ms, ...fields }) as unknown as TimelineItem
const said = (index: number, role: 'agent' | 'user', start_ms: number, end_ms: number, text = 'words') =>
  item(end_ms, { kind: 'utterance', index, role, text, interrupted: false, start_ms, end_ms, node_id: 'n' })

it('utterances become turns in the order in which they began, with the latency of the answer', () => {
  const latency = { e2e: 500, endpointing: 200, stt: 1, llm: 10, tts: 280, engine: 9 }
  const { turns } = callTimeline([
    said(0, 'user', 4000, 5000),
    said(1, 'agent', 1000, 6000),
    item(6000, { kind: 'turn', index: 1, latency }),
  ])
  expect(turns.map(({ index, latency }) => [index, latency?.e2e ?? null])).toEqual([
    [1, 500],
    [0, null],
  ])
})

it('an action is a span from its start to its result, and fails unless it succeeded', () => {
  const action = (phase: string, effect_id: string) => ({
    kind: 'action',
    action_id: 'book',
    effect_id,
    phase,
    duration_ms: 90,
  })
  const { spans } = callTimeline([
    item(1000, action('started', 'a')),
    item(1100, action('succeeded', 'a')),
    item(2000, action('started', 'b')),
    item(2300, action('uncertain', 'b')),
    item(3000, action('started', 'c')),
    item(9000, { kind: 'state', state: 'ending', phone_state: 'terminating' }),
  ])
  expect(spans.map(({ startMs, endMs, failed }) => [startMs, endMs, failed])).toEqual([
    [1000, 1100, false],
    [2000, 2300, true],
    [3000, 9000, false],
  ])
})

it('two seconds in which nobody speaks are a silence; speech at the same time is none', () => {
  const { spans } = callTimeline([
    said(0, 'agent', 0, 3000),
    said(1, 'user', 1000, 2000),
    said(2, 'agent', 4900, 6000),
    said(3, 'user', 8000, 9000),
  ])
  expect(spans).toEqual([expect.objectContaining({ kind: 'silence', startMs: 6000, endMs: 8000 })])
})

it('keys, interruptions, nodes and errors are marks; resumed speech is no interruption', () => {
  const { marks } = callTimeline([
    item(null, { kind: 'node', node_id: 'before-media' }),
    item(10, { kind: 'node', node_id: 'welcome' }),
    item(20, { kind: 'interruption', index: 0, resumed: true }),
    item(30, { kind: 'interruption', index: 0, resumed: false }),
    item(40, { kind: 'digits', direction: 'in', digits: '12' }),
    item(50, { kind: 'error', code: 'x', message: 'lost' }),
  ])
  expect(marks.map(({ kind, label }) => [kind, label])).toEqual([
    ['node', 'welcome'],
    ['interruption', ''],
    ['digits', '12'],
    ['error', 'lost'],
  ])
})

it('a hold is a span, also when the call ends in it', () => {
  const { spans } = callTimeline([
    item(1000, { kind: 'hold', held: true }),
    item(3000, { kind: 'hold', held: false }),
    item(4000, { kind: 'hold', held: true }),
    item(7000, { kind: 'state', state: 'ending', phone_state: 'terminating' }),
  ])
  expect(spans.map(({ kind, startMs, endMs }) => [kind, startMs, endMs])).toEqual([
    ['hold', 1000, 3000],
    ['hold', 4000, 7000],
  ])
})

it('the time of a turn is shared out among its words by their lengths', () => {
  expect(wordsOf({ text: ' Good  morning sir ', startMs: 1000, endMs: 2700 })).toEqual([
    { text: 'Good', startMs: 1000 },
    { text: 'morning', startMs: 1500 },
    { text: 'sir', startMs: 2300 },
  ])
  expect(wordsOf({ text: '', startMs: 0, endMs: 0 })).toEqual([])
})

it('the turn at a moment is the one that began last', () => {
  const { turns } = callTimeline([said(0, 'agent', 0, 3000), said(1, 'user', 1000, 2000)])
  expect([500, 1500, 2500, 3000].map(ms => turnAt(turns, ms))).toEqual([0, 1, 0, null])
})

it('an axis has round steps and no more than asked for', () => {
  expect(axisSteps(41_000, 10)).toEqual([0, 5000, 10_000, 15_000, 20_000, 25_000, 30_000, 35_000, 40_000])
  for (const end of [0, 999, 61_000, 3_600_000, 86_400_000]) expect(axisSteps(end, 12).length).toBeLessThanOrEqual(13)
})
