import { apiKey, at, digest, type Examples, identity, page, uuid } from './values.ts'

const suiteHead = {
  suite_id: uuid,
  agent_id: 'ada',
  name: 'Mornings',
  revision: 1,
  digest,
  source: { kind: 'runs', run_ids: [uuid] },
  created_by: apiKey,
  created_at: at,
  updated_at: at,
}
const testRun = {
  owner_id: uuid,
  environment: 'production',
  tenant_id: uuid,
  test_run_id: uuid,
  agent_id: 'ada',
  publication: { agent_id: 'ada', version: 0, digest },
  purpose: 'manual',
  suites: [{ suite_id: uuid, revision: 1, digest }],
  state: 'completed',
  verdict: 'passed',
  progress: { trials: 2, admitted: 2, settled: 2 },
  summary: {
    cases: 1,
    passed: 1,
    flaky_passed: 0,
    failed: 0,
    errored: 0,
    invalid: 0,
    trials: 2,
    regressed: 0,
    fixed: 0,
    guard_events: 0,
  },
  baseline_test_run_id: null,
  replay: null,
  judge_model: identity,
  cost: { estimated_usd: 0.02, measured_usd: 0.01 },
  created_by: apiKey,
  created_at: at,
  finished_at: at,
}
const trialHead = {
  trial_id: uuid,
  trial: 1,
  state: 'completed',
  verdict: 'failed',
  run_id: uuid,
  duration_ms: 20,
  failed_assertions: ['ends'],
}
const caseResult = {
  suite_id: uuid,
  case_id: 'books',
  name: 'Books',
  blocking: true,
  verdict: 'failed',
  fault: null,
  flaky: false,
  change: 'regressed',
  trials: [trialHead],
  predecessor_trials: [],
}
const trial = {
  ...trialHead,
  test_run_id: uuid,
  version: 1,
  suite_id: uuid,
  case_id: 'books',
  assertions: [{ id: 'ends', type: 'final_node', passed: false, message: 'it ended elsewhere' }],
  guard_events: [{ kind: 'unmocked_action', action_id: 'book', offset_ms: 12 }],
  changes: [{ turn: 1, kind: 'node', before: 'booked', after: 'trouble' }],
  turns: [
    { turn: 0, source: 'replayed' },
    { turn: 1, source: 'simulated' },
  ],
  transcript: null,
  started_at: at,
  finished_at: at,
  error: null,
}
const testSuite = { ...suiteHead, cases: [] }
const testSuiteItem = { ...suiteHead, case_count: 1 }
const suiteFields = {
  name: 'Mornings',
  agent_id: 'ada',
  cases: [
    {
      case_id: 'books',
      name: 'A caller books a visit',
      language: 'en',
      caller: { kind: 'script', steps: [{ says: 'A visit on Monday, please.' }] },
      assertions: [{ type: 'outcome', id: 'ends', kinds: ['completed', 'caller_hung_up'] }],
    },
  ],
  source: { kind: 'selector', window_days: 7, limit: 5 },
} as const
const testRunFields = { agent_id: 'ada', version: 0, suite_ids: [uuid], case_ids: ['books'], trials: 2 }

export const testRunExamples = {
  'runs.replay': { body: { after_change: 'stop' }, answer: testRun },
  'test_suites.create': { body: suiteFields, answer: testSuite },
  'test_suites.list': { answer: page(testSuiteItem) },
  'test_suites.get': { answer: testSuite },
  'test_suites.edit': {
    body: { expected_revision: 1, edits: [{ op: 'set_name', name: 'Evenings' }] },
    answer: { ...testSuite, name: 'Evenings', revision: 2 },
  },
  'test_suites.delete': { answer: testSuite },
  'test_runs.create': { body: { ...testRunFields, baseline_test_run_id: uuid }, answer: testRun },
  'test_runs.estimate': {
    body: testRunFields,
    answer: { cases: 1, trials: 2, estimated_usd: 0.02, estimated_minutes: 0.5, warnings: [] },
  },
  'test_runs.list': { answer: page(testRun) },
  'test_runs.get': { answer: testRun },
  'test_runs.results': { answer: page(caseResult) },
  'test_runs.trial': { answer: trial },
  'test_runs.cancel': { body: {}, answer: testRun },
} as const satisfies Examples
