import type { SuiteSource, TestCase } from '@parley/contract'
import type { ColumnType, Generated } from 'kysely'
import type { StoredPrincipal } from './stored-principal.ts'
import type { ReplayOrder, ReplayResult, TestRunSuite, TrialAssertion, TrialGuardEvent } from './tests/protocol.ts'

type Instant = string
type JsonColumn<Value> = ColumnType<Value, string, string>

/** Test suites; see the migrations for what each column means. */
export interface TestSuitesTable {
  tenant_id: Generated<string>
  suite_id: Generated<string>
  agent_id: string | null
  name: string
  revision: Generated<number>
  digest: string
  cases: JsonColumn<TestCase[]>
  case_count: number
  source: ColumnType<SuiteSource | null, string | null, string | null>
  created_by: JsonColumn<StoredPrincipal>
  created_at: Generated<Instant>
  updated_at: Generated<Instant>
}

export type TestRunState = 'queued' | 'running' | 'completed' | 'cancelled'
export type TrialVerdict = 'passed' | 'failed' | 'errored'

export interface TestRunsTable {
  tenant_id: Generated<string>
  test_run_id: Generated<string>
  agent_id: string
  version: number
  purpose: 'manual' | 'publish_gate' | 'schedule' | 'release'
  suites: JsonColumn<TestRunSuite[]>
  case_ids: ColumnType<string[] | null, string | null, string | null>
  trials: number | null
  state: Generated<TestRunState>
  verdict: TrialVerdict | null
  summary: ColumnType<Readonly<Record<string, number>> | null, string | undefined, string>
  baseline_test_run_id: string | null
  judge_model: ColumnType<Readonly<Record<string, string>> | null, string | null, never>
  replay: ColumnType<ReplayOrder | null, string | null | undefined, never>
  estimated_usd: number
  measured_usd: number | null
  created_by: JsonColumn<StoredPrincipal>
  created_at: Generated<Instant>
  finished_at: Instant | null
}

export interface TestRunCasesTable {
  tenant_id: Generated<string>
  test_run_id: string
  place: number
  suite_id: string
  case_id: string
  test_case: JsonColumn<TestCase>
  verdict: TrialVerdict | 'invalid' | null
  fault: string | null
  flaky: Generated<boolean>
  change: 'regressed' | 'fixed' | 'same' | 'new' | null
  compared: Generated<boolean>
  recorded_run_id: Generated<string | null>
}

export interface TestTrialsTable {
  tenant_id: Generated<string>
  test_run_id: string
  trial_id: Generated<string>
  place: number
  trial: number
  version: number | null
  pair: number | null
  state: Generated<TestRunState>
  verdict: TrialVerdict | null
  fence: Generated<number>
  lease_until: Instant | null
  run_id: string | null
  duration_ms: number | null
  assertions: ColumnType<TrialAssertion[], string | undefined, string>
  guard_events: ColumnType<TrialGuardEvent[], string | undefined, string>
  error: string | null
  replay: ColumnType<ReplayResult | null, string | null | undefined, string | null>
  started_at: Instant | null
  finished_at: Instant | null
}
