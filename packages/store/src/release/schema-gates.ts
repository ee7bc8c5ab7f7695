import type { Certificate, GateEvidence, ReleaseGate } from '@parley/contract'
import type { ColumnType, Generated } from 'kysely'
import type { StoredPrincipal } from '../stored-principal.ts'

type Instant = string
type JsonOrNull<Value> = ColumnType<Value | null, string | null | undefined, string | null>

/** Pairs of a gate's comparison by their results. */
export interface GatePairs {
  readonly both: number
  readonly predecessor_only: number
  readonly candidate_only: number
  readonly neither: number
  readonly unusable: number
}

export interface GateOverride {
  readonly reason: string
  readonly by: StoredPrincipal
  /** ISO time. */
  readonly at: string
}

export type GateState = 'running' | 'passed' | 'failed' | 'superseded' | 'overridden' | 'cancelled'

/** Release gates; see the migration for what each column means. */
export interface ReleaseGatesTable {
  tenant_id: Generated<string>
  gate_id: Generated<string>
  agent_id: string
  candidate: number
  predecessor: number | null
  settings: ColumnType<ReleaseGate, string, never>
  test_run_id: string | null
  state: ColumnType<GateState, GateState | undefined, GateState>
  pairs: ColumnType<GatePairs, string | undefined, string>
  scheduled: Generated<number>
  evidence: JsonOrNull<GateEvidence>
  override: JsonOrNull<GateOverride>
  certificate: JsonOrNull<Certificate>
  created_at: Generated<Instant>
  decided_at: ColumnType<Instant | null, never, unknown>
}
