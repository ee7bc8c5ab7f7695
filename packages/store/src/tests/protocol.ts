import type { Scope, SuiteSource, TestCase } from '@parley/contract'

/** A suite as it was when its test run was created. */
export interface TestRunSuite {
  readonly suite_id: string
  readonly revision: number
  readonly digest: string
  readonly agent_id: string | null
  readonly cases: readonly TestCase[]
  readonly source: SuiteSource | null
}

/** The result of an assertion; `passed` null: it could not be judged. */
export interface TrialAssertion {
  readonly id: string
  readonly type: string
  readonly passed: boolean | null
  readonly message: string | null
}

/** What a trial did not do, because it would have had an effect outside. */
export interface TrialGuardEvent {
  readonly kind: string
  readonly action_id: string | null
  readonly offset_ms: number | null
}

/** The run that a test run replays. */
export interface ReplayOrder {
  readonly run_id: string
  /** Version of the test run's agent that the run was recorded with; null: another agent's. */
  readonly version: number | null
  readonly after_change: 'stop' | 'simulate'
}

/** What the replay of a run found. */
export interface ReplayResult {
  readonly changes: readonly {
    readonly turn: number
    readonly kind: 'node' | 'speech' | 'action' | 'latency' | 'decision'
    readonly before: string | null
    readonly after: string | null
  }[]
  readonly turns: readonly { readonly turn: number; readonly source: 'replayed' | 'simulated' }[]
}

/** A trial that belongs to the caller until its lease ends. */
export interface TakenTrial {
  readonly scope: Scope
  readonly test_run_id: string
  readonly trial_id: string
  readonly trial: number
  readonly fence: number
  readonly agent_id: string
  readonly version: number
  readonly suite_id: string
  readonly test_case: TestCase
  /** Null: the trial is a conversation of its own. */
  readonly replay: ReplayOrder | null
  /** The run whose caller the case plays; null: the case was written. */
  readonly recorded_run_id: string | null
}
