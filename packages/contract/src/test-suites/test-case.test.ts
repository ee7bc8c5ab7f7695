import { describe, expect, it } from 'vitest'
import { suiteSource } from './suite-source.ts'
import { testCase } from './test-case.ts'

const ASSERTION = { type: 'outcome', id: 'ends', kinds: ['completed'] }
const CASE = {
  case_id: 'books',
  name: 'Books',
  language: 'en',
  caller: { kind: 'script', steps: [{ says: 'Hello.' }] },
  assertions: [ASSERTION],
}
const accepts = (fields: object) => testCase.safeParse({ ...CASE, ...fields }).success
const asserts = (assertion: object) => accepts({ assertions: [{ id: 'a', ...assertion }] })
const mocks = (mock: object) => accepts({ mocks: [{ action_id: 'book', respond: { kind: 'response' }, ...mock }] })

describe('a test case', () => {
  it('a case has the defaults of the specification', () => {
    expect(testCase.parse(CASE)).toMatchObject({
      tags: [],
      mode: 'text',
      voice: null,
      dynamic_variables: {},
      mocks: [],
      max_turns: 12,
      timeout_ms: 180_000,
      trials: 1,
      pass_policy: 'majority',
      blocking: true,
    })
  })

  it('a persona has the defaults of the specification', () => {
    const { caller } = testCase.parse({ ...CASE, caller: { kind: 'persona', goal: 'A visit', brief: 'Busy.' } })
    expect(caller).toEqual({
      kind: 'persona',
      goal: 'A visit',
      brief: 'Busy.',
      facts: {},
      behavior: { verbosity: 'short', patience: 3, interrupts: 'never', pauses: 'never', backchannels: 'never' },
    })
  })

  it.each([
    ['an id of lower-case letters', { case_id: 'a_b-1' }, { case_id: 'A' }],
    ['10 tags', { tags: Array(10).fill('a') }, { tags: Array(11).fill('a') }],
    ['1 to 30 turns', { max_turns: 30 }, { max_turns: 31 }],
    ['30 s to 10 min', { timeout_ms: 600_000 }, { timeout_ms: 29_999 }],
    ['1 to 30 trials', { trials: 30 }, { trials: 0 }],
    ['fields that are known', {}, { colour: 'red' }],
    ['at least one assertion', {}, { assertions: [] }],
    ['assertions with different ids', {}, { assertions: [ASSERTION, ASSERTION] }],
  ])('a case takes %s', (_what, good, bad) => {
    expect(accepts(good)).toBe(true)
    expect(accepts(bad)).toBe(false)
  })

  it.each([
    [
      'a value of the operator’s form',
      { path: 'a/0', op: 'one_of', value: [1] },
      { path: 'a', op: 'one_of', value: 1 },
    ],
    ['no value for exists', { path: 'a', op: 'exists' }, { path: 'a', op: 'equals' }],
    ['a linear-time pattern', { path: '', op: 'regex', value: 'a+' }, { path: '', op: 'regex', value: '(a)\\1' }],
    [
      'a pattern without lookaround',
      { path: '', op: 'regex', value: '(?:a)' },
      { path: '', op: 'regex', value: '(?=a)' },
    ],
    [
      'a range of numbers',
      { path: '', op: 'number_range', value: { min: 1 } },
      { path: '', op: 'number_range', value: { low: 1 } },
    ],
  ])('a condition of a mock takes %s', (_what, good, bad) => {
    expect(mocks({ when: [good] })).toBe(true)
    expect(mocks({ when: [bad] })).toBe(false)
  })

  it.each([
    ['exactly one pattern', { type: 'said', role: 'agent', contains: 'a' }, { type: 'said', role: 'agent' }],
    [
      'not two patterns',
      { type: 'not_said', role: 'user', regex: 'a' },
      { type: 'not_said', role: 'user', regex: 'a', contains: 'b' },
    ],
    [
      '1 to 100 calls',
      { type: 'tool_called', action_id: 'a', times: 100 },
      { type: 'tool_called', action_id: 'a', times: 0 },
    ],
    ['nodes', { type: 'final_node', node_ids: ['a/b'] }, { type: 'final_node', node_ids: [] }],
    [
      'a step without nodes',
      { type: 'turn_lands', step: 30, node_ids: [] },
      { type: 'turn_lands', step: 0, node_ids: [] },
    ],
    ['a step', { type: 'turn_lands', step: 1, node_ids: ['a'] }, { type: 'turn_lands', step: 31, node_ids: ['a'] }],
    [
      'a percentile',
      { type: 'max_latency_ms', percentile: 'p95', value: 800 },
      { type: 'max_latency_ms', percentile: 'p99', value: 800 },
    ],
    [
      'an operator',
      { type: 'variable', name: 'day', op: 'equals', value: 'Monday' },
      { type: 'variable', name: 'day', op: 'is' },
    ],
    ['a criterion', { type: 'judge', criterion: 'Was it polite?' }, { type: 'judge', criterion: '' }],
    ['causes of the end', { type: 'ended_by', values: ['caller'] }, { type: 'ended_by', values: ['nobody'] }],
    ['a known type', { type: 'tool_not_called', action_id: 'a' }, { type: 'wins' }],
  ])('an assertion takes %s', (_what, good, bad) => {
    expect(asserts(good)).toBe(true)
    expect(asserts(bad)).toBe(false)
  })
})

describe('the source of a suite', () => {
  it('a selector has the defaults of the specification', () => {
    expect(suiteSource.parse({ kind: 'selector', window_days: 7, limit: 5 })).toEqual({
      kind: 'selector',
      window_days: 7,
      versions: [],
      contact: ['human'],
      dispositions: [],
      min_caller_turns: 1,
      sample: 'latest',
      limit: 5,
    })
  })

  it.each([
    { kind: 'selector', window_days: 91, limit: 5 },
    { kind: 'selector', window_days: 7 },
    { kind: 'selector', window_days: 7, limit: 5, contact: [] },
    { kind: 'runs', run_ids: [] },
    { kind: 'files' },
  ])('the source %o is refused', source => {
    expect(suiteSource.safeParse(source).success).toBe(false)
  })
})
