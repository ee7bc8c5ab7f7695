import type { SuiteSource, TestCase } from '@parley/contract'
import type { ColumnType, Generated } from 'kysely'
import type { StoredPrincipal } from './schema.ts'

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
