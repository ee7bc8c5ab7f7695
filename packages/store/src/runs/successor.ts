import type { Plan, Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { Channel } from '../schema.ts'
import type { AdmissionRefusal, AdmittedRow } from './admission.ts'
import type { RunOwner, RunOwnership } from './protocol.ts'

/** A publication whose agent may continue a call (agent swap). */
export interface SuccessorPublication {
  readonly agent_id: string
  readonly version: number
  readonly channels: readonly Channel[]
  readonly plan: Plan
}

/**
 * The publication of an agent: of this version, or its head. Null: there is none, it is a test version, or the
 * agent is archived.
 */
export async function successorPublication(
  db: Queries,
  scope: Scope,
  agentId: string,
  version: number | null,
): Promise<SuccessorPublication | null> {
  const { rows } = await sql<SuccessorPublication>`
    select p.agent_id, p.version, p.channels, p.plan
    from parley.agents a
    join parley.publications p
      on p.tenant_id = a.tenant_id and p.agent_id = a.agent_id and p.version = coalesce(${version}::integer, a.head_version)
    where a.tenant_id = ${scope.tenant_id}::uuid and a.agent_id = ${agentId}::text and a.archived_at is null and not p.test`.execute(
    db,
  )
  return rows[0] ?? null
}

/**
 * Whether the run that `runId` continues (its source) is the one to end their common call, after the engine that owned both has died: the
 * source has not ended and its dialog is stored, or its effect `effectKey` has already ended the call. Then nothing must be sent for `runId`.
 */
export async function sourceEndsCall(db: Queries, scope: Scope, runId: string, effectKey: string): Promise<boolean> {
  const { rows } = await sql`
    select from parley.run_ownership o
    join parley.runs s on s.tenant_id = o.tenant_id and s.run_id = o.source_run_id
    where o.tenant_id = ${scope.tenant_id}::uuid and o.run_id = ${runId}::uuid and (
      (s.ended_at is null and (s.channel <> 'phone' or s.dialog is not null))
      or exists (
        select from parley.run_effects e where e.tenant_id = s.tenant_id and e.run_id = s.run_id
          and e.effect_key = ${effectKey}::text and e.state = 'succeeded'
      )
    )`.execute(db)
  return rows.length > 0
}

/** A run that continues the call of another one, its source. Fields that are not here are copied from the source. */
interface SuccessorRequest {
  readonly run_id: string
  readonly agent_id: string
  readonly version: number
  /** The effect of the source that records this admission. */
  readonly effect_id: string
  readonly dynamic_variables: Readonly<Record<string, string>>
  readonly notifies: boolean
}

export type SuccessorAdmission =
  | { readonly kind: 'admitted'; readonly owned: RunOwnership }
  | { readonly kind: 'refused'; readonly reason: AdmissionRefusal }
  /** This process no longer owns the source, or another run already continues its call. */
  | { readonly kind: 'lost' }

/**
 * Admits a run that takes over the call and the permit of `source`, owned at once. Call it last in the transaction: admissions of
 * the environment are serialised from here to the commit.
 */
export async function admitSuccessor(
  tx: Queries,
  scope: Scope,
  source: RunOwnership,
  { effect_id, ...request }: SuccessorRequest,
  owner: RunOwner & { readonly leaseMs: number },
): Promise<SuccessorAdmission> {
  const run = { ...request, trigger: { kind: 'callback', source_run_id: source.run_id, effect_id } }
  const { rows } = await sql<AdmittedRow>`
    select run_id, created_at, fence, refused, trim_scale(limit_value) as limit_value, trim_scale(used_value) as used_value
    from parley.admit_successor(
      ${scope.tenant_id}::uuid, ${source.run_id}::uuid, ${source.fence}::bigint, ${JSON.stringify(run)}::jsonb,
      ${owner.engine}::text, ${owner.worker}::text, ${owner.leaseMs}::integer
    )`.execute(tx)
  const [row] = rows
  if (row === undefined) return { kind: 'lost' }
  if (row.refused !== null) return { kind: 'refused', reason: row.refused }
  return { kind: 'admitted', owned: { run_id: request.run_id, fence: row.fence } }
}
