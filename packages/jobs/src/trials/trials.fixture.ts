import { type TestCase, testCase } from '@parley/contract'
import type { Plan } from '@parley/flow'
import { systemTime } from '@parley/kernel'
import { RulesModel } from '@parley/providers'
import { insertTestRun, listCaseResults, MasterKeySealer, readTestRun, readTrial } from '@parley/store'
import type { TestDatabase } from '@parley/store/testing'
import { PlanCache } from '../plan-cache.ts'
import { JobsHarness } from '../testing/jobs-harness.ts'
import type { DraftNode } from '../text/testing/agents.ts'
import { planOf } from '../text/testing/agents.ts'
import { TrialJobs, type TrialJobsOptions } from './trial-jobs.ts'

const SUITE = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const PRINCIPAL = { owner_id: 'o', environment: 'production', kind: 'api_key', id: SUITE } as const

const edge = (id: string, prompt: string, to: string) => ({
  id,
  transition_condition: { type: 'prompt' as const, prompt },
  destination_node_id: to,
})

const NODES: DraftNode[] = [
  {
    id: 'welcome',
    type: 'conversation',
    instruction: { type: 'static_text', text: 'Hello {{name}}, what can I do for you?' },
    edges: [edge('book', 'The caller wants to book a room', 'book'), edge('bye', 'The caller says goodbye', 'end')],
  },
  { id: 'book', type: 'function', tool_id: 'book', edges: [], else_edge: edge('else', 'Else', 'booked') },
  {
    id: 'booked',
    type: 'end',
    speak_during_execution: true,
    instruction: { type: 'static_text', text: 'Room {{room}} is yours.' },
  },
  { id: 'end', type: 'end' },
]

/** An agent that books rooms by an action. */
export const HOTEL: Plan = planOf(NODES, {
  actions: [
    {
      action_id: 'book',
      kind: 'http',
      name: 'book',
      method: 'POST',
      url: 'https://hotel.example.com/book',
      response_variables: { room: '$.room' },
    },
  ],
})

export const BOOKED: object = { action_id: 'book', respond: { kind: 'response', body: { room: '12' } } }

/** The services of the hotel's agent. */
export const hotelAgent: TrialJobsOptions['agents'] = async () => ({
  models: () => new RulesModel({ time: systemTime }),
  actions: () => ({ run: () => Promise.reject(new Error('a trial runs no action')) }),
  transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
})

/** A case in which the caller wants to book; `over` replaces members. */
export function bookingCase(over: object = {}): TestCase {
  return testCase.parse({
    case_id: 'books',
    name: 'Books',
    language: 'en',
    caller: { kind: 'script', steps: [{ says: 'I want to book a room, please.' }] },
    dynamic_variables: { name: 'Ada' },
    mocks: [BOOKED],
    assertions: [
      { type: 'final_node', id: 'ends', node_ids: ['booked'] },
      { type: 'tool_called', id: 'calls', action_id: 'book', times: 1 },
      { type: 'said', id: 'says', role: 'agent', contains: 'Room 12' },
      { type: 'variable', id: 'knows', name: 'room', op: 'equals', value: '12' },
      { type: 'outcome', id: 'outcome', kinds: ['completed'] },
    ],
    ...over,
  })
}

/** Seals the signing key of the test. */
export const SEALER = new MasterKeySealer(new Map([[1, Buffer.alloc(32, 7)]]))

/** An environment with the hotel's agent, and workers that carry out trials. */
export class TrialHarness {
  readonly jobs: JobsHarness

  private constructor(jobs: JobsHarness) {
    this.jobs = jobs
  }

  static async open(test: TestDatabase): Promise<TrialHarness> {
    const jobs = await JobsHarness.open(test)
    await jobs.publish('hotel', HOTEL)
    return new TrialHarness(jobs)
  }

  worker(options: Partial<TrialJobsOptions> = {}): TrialJobs {
    const { test, queue, counters, log, bus } = this.jobs
    const database = test.database
    return new TrialJobs({
      database,
      queue,
      plans: new PlanCache(database),
      agents: hotelAgent,
      sealer: SEALER,
      bus,
      time: systemTime,
      wallClock: Date.now,
      log,
      counters,
      ...options,
    })
  }

  /** Creates a test run of these cases. */
  testRun(
    cases: readonly TestCase[],
    over: { readonly baseline?: string; readonly trials?: number } = {},
  ): Promise<string> {
    const { scope } = this.jobs
    return this.jobs.write(tx =>
      insertTestRun(tx, scope, {
        agent_id: 'hotel',
        version: 1,
        purpose: 'manual',
        suites: [{ suite_id: SUITE, revision: 1, digest: 'd', agent_id: null, cases, source: null }],
        case_ids: null,
        trials: over.trials ?? null,
        baseline_test_run_id: over.baseline ?? null,
        judge_model: null,
        estimated_usd: 0,
        created_by: PRINCIPAL,
      }),
    )
  }

  async read(testRunId: string) {
    return (await readTestRun(this.#db, this.jobs.scope, testRunId))!
  }

  async results(testRunId: string) {
    return (await listCaseResults(this.#db, this.jobs.scope, testRunId, { cursor: null, limit: 100 })).rows
  }

  async trial(testRunId: string, trialId: string) {
    return (await readTrial(this.#db, this.jobs.scope, testRunId, trialId))!
  }

  get #db() {
    return this.jobs.test.database.within(this.jobs.scope)
  }
}
