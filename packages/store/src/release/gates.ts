import type { Certificate, GateEvidence, ReleaseGate, Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { TestRunState, TrialVerdict } from '../schema-tests.ts'
import type { StoredPrincipal } from '../stored-principal.ts'
import type { TestRunSuite } from '../tests/protocol.ts'
import type { GateOverride, GateState } from './schema-gates.ts'

/** A gate with the test run that gives its evidence. */
export interface GateRow {
  readonly gate_id: string
  readonly agent_id: string
  readonly candidate: number
  /** Null: no version was live when the gate began. */
  readonly predecessor: number | null
  readonly settings: ReleaseGate
  readonly state: GateState
  readonly evidence: GateEvidence | null
  readonly override: GateOverride | null
  readonly certificate: Certificate | null
  /** Null: the gate was overridden before a test run began. */
  readonly test_run_id: string | null
  readonly test_state: TestRunState | null
  readonly verdict: TrialVerdict | null
  readonly suites: readonly Pick<TestRunSuite, 'suite_id' | 'revision' | 'digest'>[] | null
}

function selectGates(db: Queries, scope: Scope) {
  const suites = sql<GateRow['suites']>`(
    select jsonb_agg(jsonb_build_object('suite_id', s ->> 'suite_id', 'revision', s -> 'revision', 'digest', s ->> 'digest'))
    from jsonb_array_elements(r.suites) s)`
  return db
    .selectFrom('release_gates as g')
    .leftJoin('test_runs as r', join =>
      join.onRef('r.tenant_id', '=', 'g.tenant_id').onRef('r.test_run_id', '=', 'g.test_run_id'),
    )
    .where('g.tenant_id', '=', scope.tenant_id)
    .select([
      'g.gate_id',
      'g.agent_id',
      'g.candidate',
      'g.predecessor',
      'g.settings',
      'g.state',
      'g.evidence',
      'g.override',
      'g.certificate',
      'g.test_run_id',
      'r.state as test_state',
      'r.verdict',
      suites.as('suites'),
    ])
}

/** The newest gate of a version; null: it never had one. */
export async function readGate(db: Queries, scope: Scope, agentId: string, version: number): Promise<GateRow | null> {
  const found = await selectGates(db, scope)
    .where('g.agent_id', '=', agentId)
    .where('g.candidate', '=', version)
    .orderBy('g.created_at', 'desc')
    .orderBy('g.gate_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found ?? null
}

/** Certificate of the version; null: it never passed a gate. */
export async function readCertificate(
  db: Queries,
  scope: Scope,
  agentId: string,
  version: number,
): Promise<Certificate | null> {
  const found = await db
    .selectFrom('release_gates')
    .select('certificate')
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .where('candidate', '=', version)
    .where('certificate', 'is not', null)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found?.certificate ?? null
}

/** Gates of a candidate against this predecessor that were tested, newest first; at most 20. The agent must be locked. */
export function gatesAgainst(
  tx: Queries,
  scope: Scope,
  agentId: string,
  candidate: number,
  predecessor: number | null,
): Promise<GateRow[]> {
  return selectGates(tx, scope)
    .where('g.agent_id', '=', agentId)
    .where('g.candidate', '=', candidate)
    .where(sql<boolean>`g.predecessor is not distinct from ${predecessor}::integer`)
    .where('g.test_run_id', 'is not', null)
    .orderBy('g.created_at', 'desc')
    .limit(20)
    .execute()
}

/** The setting `releaseGate` of two versions of an agent; null: the version has none. */
export async function releaseGatesOf(
  db: Queries,
  scope: Scope,
  agentId: string,
  versions: { readonly candidate: number; readonly predecessor: number | null },
): Promise<{ readonly candidate: ReleaseGate | null; readonly predecessor: ReleaseGate | null }> {
  const { rows } = await sql<{ version: number; gate: ReleaseGate | null }>`
    select version, plan #> '{settings,releaseGate}' as gate from parley.publications
    where tenant_id = ${scope.tenant_id}::uuid and agent_id = ${agentId}
      and version in (${versions.candidate}::integer, ${versions.predecessor}::integer)`.execute(db)
  const of = (version: number | null) => rows.find(row => row.version === version)?.gate ?? null
  return { candidate: of(versions.candidate), predecessor: of(versions.predecessor) }
}

interface NewGate {
  readonly agent_id: string
  readonly candidate: number
  readonly predecessor: number | null
  readonly settings: ReleaseGate
  readonly test_run_id: string
}

/** Creates a gate that waits for its test run. */
export async function insertGate(tx: Queries, scope: Scope, gate: NewGate): Promise<void> {
  await tx
    .insertInto('release_gates')
    .values({ ...gate, tenant_id: scope.tenant_id, settings: JSON.stringify(gate.settings) })
    .execute()
}

/** Stores that a version was made live without evidence. */
export async function insertOverriddenGate(
  tx: Queries,
  scope: Scope,
  {
    override,
    settings,
    ...gate
  }: Omit<NewGate, 'test_run_id'> & { readonly override: { readonly reason: string; readonly by: StoredPrincipal } },
): Promise<void> {
  await sql`
    insert into parley.release_gates (tenant_id, agent_id, candidate, predecessor, settings, state, decided_at, override)
    values (${scope.tenant_id}::uuid, ${gate.agent_id}, ${gate.candidate}::integer, ${gate.predecessor}::integer,
      ${JSON.stringify(settings)}::jsonb, 'overridden', parley.now_ms(),
      ${JSON.stringify(override)}::jsonb || jsonb_build_object('at', to_char(parley.now_ms() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`.execute(
    tx,
  )
}

/** Test runs of gates of this version that are not over; the agent must be locked. */
export async function openGateTestRuns(
  tx: Queries,
  scope: Scope,
  agentId: string,
  candidate: number,
): Promise<string[]> {
  const rows = await selectGates(tx, scope)
    .where('g.agent_id', '=', agentId)
    .where('g.candidate', '=', candidate)
    .where('g.state', '=', 'running')
    .execute()
  return rows.flatMap(({ test_run_id }) => (test_run_id === null ? [] : [test_run_id]))
}

/** A gate whose test run is over and that has not been settled; null: there is none. Locks nothing. */
export async function nextGateToSettle(
  db: Queries,
  scope: Scope,
): Promise<{ readonly gate_id: string; readonly agent_id: string } | null> {
  const found = await selectGates(db, scope)
    .where('g.state', '=', 'running')
    .where('r.state', 'in', ['completed', 'cancelled'])
    .orderBy('g.created_at')
    .limit(1)
    .executeTakeFirst()
  return found ?? null
}

/** The gate, locked, if it has not been settled; its agent must be locked before. */
export async function lockUnsettledGate(tx: Queries, scope: Scope, gateId: string): Promise<GateRow | null> {
  const found = await selectGates(tx, scope)
    .where('g.gate_id', '=', gateId)
    .where('g.state', '=', 'running')
    .forUpdate('g')
    .executeTakeFirst()
  return found ?? null
}

/** Ends a gate; `certificate` for those that passed. */
export async function settleGate(
  tx: Queries,
  scope: Scope,
  gateId: string,
  state: Exclude<GateState, 'running' | 'overridden'>,
  certificate: Certificate | null,
): Promise<void> {
  await tx
    .updateTable('release_gates')
    .set({
      state,
      decided_at: sql`parley.now_ms()`,
      ...(certificate !== null && { certificate: JSON.stringify(certificate) }),
    })
    .where('tenant_id', '=', scope.tenant_id)
    .where('gate_id', '=', gateId)
    .execute()
}
