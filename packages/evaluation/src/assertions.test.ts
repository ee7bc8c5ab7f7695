import { type Assertion, testCase } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { judgeAssertion } from './assertions.ts'
import type { TrialRecord } from './trial-record.ts'

const RECORD: TrialRecord = {
  timeline: [],
  utterances: [],
  speech: [
    { role: 'agent', text: 'Hello, how can I help you?', turn: 0 },
    { role: 'user', text: 'A room, please.', turn: 1 },
    { role: 'agent', text: 'Room 12 is yours.', turn: 1 },
  ],
  nodes: [
    { node_id: 'welcome', turn: 0 },
    { node_id: 'book', turn: 1 },
    { node_id: 'register/name', turn: 1 },
    { node_id: 'done', turn: 2 },
  ],
  calls: [
    { action_id: 'book', arguments: { room: 12 } },
    { action_id: 'book', arguments: { room: 13 } },
  ],
  guardEvents: [],
  outcome: { kind: 'completed', ended_by: 'agent', code: null },
  variable: name => (name === 'room' ? '12' : undefined),
  landings: new Map([
    [1, 'register/name'],
    [2, 'done'],
  ]),
  latenciesMs: [100, 200, 300, 4000],
  missed: [],
  usage: [],
  effects: [],
}

/** The result of an assertion, with its defaults. */
function judged(fields: object) {
  const parsed = testCase.parse({
    case_id: 'a',
    name: 'A',
    language: 'en',
    caller: { kind: 'script', steps: [{}] },
    assertions: [{ id: 'a', ...fields }],
  })
  return judgeAssertion(parsed.assertions[0] as Exclude<Assertion, { type: 'judge' }>, RECORD)
}

describe('an assertion', () => {
  it.each<[string, object, object, string]>([
    ['a visited node', { node_ids: ['book', 'x'] }, { node_ids: ['x'] }, 'node_visited'],
    [
      'all visited nodes',
      { node_ids: ['book', 'done'], match: 'all' },
      { node_ids: ['book', 'x'], match: 'all' },
      'node_visited',
    ],
    ['a node by a turn', { node_ids: ['book'], by_turn: 1 }, { node_ids: ['done'], by_turn: 1 }, 'node_visited'],
    ['a node that is not visited', { node_ids: ['x'] }, { node_ids: ['x', 'book'] }, 'node_not_visited'],
    ['a path with gaps', { node_ids: ['welcome', 'done'] }, { node_ids: ['done', 'welcome'] }, 'path'],
    [
      'an exact path',
      { order: 'exact', node_ids: ['welcome', 'book', 'register/name', 'done'] },
      { order: 'exact', node_ids: ['welcome', 'book', 'done'] },
      'path',
    ],
    ['where a step lands', { step: 1, node_ids: ['register/name'] }, { step: 1, node_ids: ['done'] }, 'turn_lands'],
    ['that a step came, wherever it lands', { step: 2, node_ids: [] }, { step: 3, node_ids: [] }, 'turn_lands'],
    ['that a step came', { step: 2, node_ids: ['done'] }, { step: 3, node_ids: ['done'] }, 'turn_lands'],
    ['the last node', { node_ids: ['done'] }, { node_ids: ['book'] }, 'final_node'],
    ['a tool call', { action_id: 'book' }, { action_id: 'cancel' }, 'tool_called'],
    ['the number of calls', { action_id: 'book', times: 2 }, { action_id: 'book', times: 1 }, 'tool_called'],
    [
      'arguments of a call',
      { action_id: 'book', times: 1, arguments: [{ path: 'room', op: 'equals', value: 12 }] },
      { action_id: 'book', arguments: [{ path: 'room', op: 'equals', value: 14 }] },
      'tool_called',
    ],
    ['a tool that is not called', { action_id: 'cancel' }, { action_id: 'book' }, 'tool_not_called'],
    ['words', { role: 'agent', contains: 'room 12' }, { role: 'user', contains: 'room 12' }, 'said'],
    [
      'words by a turn',
      { role: 'user', contains: 'room', by_turn: 1 },
      { role: 'user', contains: 'room', by_turn: 0 },
      'said',
    ],
    ['a pattern', { role: 'agent', regex: 'room \\d+' }, { role: 'agent', regex: 'suite \\d+' }, 'said'],
    ['words that are not said', { role: 'agent', contains: 'suite' }, { role: 'agent', contains: 'hello' }, 'not_said'],
    [
      'a variable',
      { name: 'room', op: 'equals', value: '12' },
      { name: 'room', op: 'equals', value: '13' },
      'variable',
    ],
    ['a variable that is not set', { name: 'x', op: 'absent' }, { name: 'room', op: 'absent' }, 'variable'],
    ['the outcome', { kinds: ['completed', 'error'] }, { kinds: ['error'] }, 'outcome'],
    ['who ended it', { values: ['agent'] }, { values: ['caller'] }, 'ended_by'],
    ['the latency', { percentile: 'p50', value: 200 }, { percentile: 'p95', value: 3999 }, 'max_latency_ms'],
  ])('%s is asserted', (_what, good, bad, type) => {
    expect(judged({ type, ...good })).toEqual({ id: 'a', type, passed: true, message: null })
    expect(judged({ type, ...bad })).toEqual({ id: 'a', type, passed: false, message: expect.any(String) })
  })
})
