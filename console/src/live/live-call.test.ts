import { expect, it } from 'vitest'
import type { TimelineItem } from '../runs/call-timeline.ts'
import { followedRuns, liveCall } from './live-call.ts'

const items = (...all: Record<string, unknown>[]) =>
  all.map((fields, index) => ({
    seq: index + 1,
    at: '2026-11-23T10:00:00Z',
    offset_ms: index * 100,
    ...fields,
  })) as unknown as TimelineItem[]

it('a live call shows its newest state, node, keys, running action and answer time', () => {
  const latency = { e2e: 480, endpointing: 200, stt: 1, llm: 10, tts: 260, engine: 9 }
  const call = liveCall(
    items(
      { kind: 'state', state: 'running', phone_state: 'ringing' },
      { kind: 'state', state: 'running', phone_state: 'active' },
      { kind: 'node', node_id: 'welcome' },
      { kind: 'node', node_id: 'ask_number' },
      { kind: 'digits', direction: 'in', digits: '10' },
      { kind: 'digits', direction: 'out', digits: '9' },
      { kind: 'digits', direction: 'in', digits: '42' },
      { kind: 'turn', index: 2, latency },
      { kind: 'action', action_id: 'find', effect_id: 'a', phase: 'started' },
      { kind: 'action', action_id: 'find', effect_id: 'a', phase: 'succeeded' },
      { kind: 'action', action_id: 'book', effect_id: 'b', phase: 'started' },
    ),
  )
  expect(call).toMatchObject({
    state: { state: 'running', phone_state: 'active' },
    nodeId: 'ask_number',
    keys: '1042',
    action: 'book',
    latency,
  })
})

it('before its first event a call has no state', () => {
  expect(liveCall([])).toMatchObject({ state: null, turns: [], action: null })
})

it('new calls are followed first, and an ended call stays until its place is needed', () => {
  expect(followedRuns([], ['a', 'b'], 3)).toEqual(['a', 'b'])
  expect(followedRuns(['a', 'b'], ['b'], 3)).toEqual(['a', 'b'])
  expect(followedRuns(['a', 'b', 'c'], ['d', 'b', 'c'], 3)).toEqual(['d', 'b', 'c'])
})

it('a call that is followed gives its place to no other while it lives', () => {
  expect(followedRuns(['a', 'b', 'c'], ['e', 'd', 'a', 'b', 'c'], 3)).toEqual(['a', 'b', 'c'])
})
