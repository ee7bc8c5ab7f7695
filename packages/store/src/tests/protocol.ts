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
}
