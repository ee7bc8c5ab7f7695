import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, UpdateStatus } from '../schema-runs.ts'
import { statementTime } from '../statement-time.ts'
import { heldRow } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'

/** How long an engine has to apply an update. */
const DEADLINE_MS = 10_000
/** Of one run. */
const MAX_VARIABLES = 100

/** A change of a live run; what is left out stays. */
export interface RunChange {
  /** Merged by name. */
  readonly override_dynamic_variables?: Readonly<Record<string, string>>
  /** Replaces all of it; null clears. */
  readonly metadata?: JsonObject | null
}

export interface UpdateReceipt {
  readonly update_id: string
  readonly run_id: string
  /** From 1. */
  readonly revision: number
  readonly status: UpdateStatus
  readonly acknowledged_at: string
  readonly deadline: string
  readonly completed_at: string | null
  readonly reason: string | null
}

export interface PendingUpdate extends UpdateReceipt {
  readonly change: RunChange
}

const RECEIPT = sql.raw(
  'u.update_id, u.run_id, u.revision, u.status, u.acknowledged_at, u.deadline, u.completed_at, u.reason',
)

/**
 * Notes a change. Where nobody owns the run yet it applies at once (or is `rejected`: `too_many_variables`); else its owner
 * has 10 s. Null: the run is ending or has ended, or never was. What became of it is an item of the timeline: written here
 * where nobody owns the run, else by its owner, at the latest with the run's end.
 */
export async function acknowledgeUpdate(
  tx: Queries,
  scope: Scope,
  runId: string,
  change: RunChange,
): Promise<UpdateReceipt | null> {
  const { rows } = await sql<UpdateReceipt & { engine: string | null }>`
    with live as (
      update parley.run_ownership o set last_update = last_update + 1
      where o.tenant_id = ${scope.tenant_id}::uuid and o.run_id = ${runId}::uuid and not o.cancel_asked and exists (
        select from parley.runs r where r.tenant_id = o.tenant_id and r.run_id = o.run_id and r.state in ('admitted', 'running')
      )
      returning o.tenant_id, o.run_id, o.last_update, o.engine
    ), made as (
      insert into parley.run_updates as u (tenant_id, run_id, revision, change, status, acknowledged_at, deadline)
      select live.tenant_id, live.run_id, live.last_update, ${JSON.stringify(change)}::jsonb, 'acknowledged',
        ${statementTime}, ${statementTime} + ${DEADLINE_MS}::integer * interval '1 ms'
      from live
      returning ${RECEIPT}
    )
    select made.*, live.engine from made, live`.execute(tx)
  const [made] = rows
  if (made === undefined) return null
  const { engine, ...receipt } = made
  if (engine !== null) return receipt
  const applied = await applyChange(tx, scope, runId, change)
  const settled = await settle(
    tx,
    scope,
    runId,
    receipt.revision,
    applied ? 'applied' : 'rejected',
    applied ? null : 'too_many_variables',
  )
  // Nobody else gives the timeline its numbers: the row of its owner is locked, and names none.
  await sql`select parley.tell_updates(${scope.tenant_id}::uuid, ${runId}::uuid)`.execute(tx)
  return settled
}

/** What the owner has not settled yet, in order. */
export async function pendingUpdates(db: Queries, scope: Scope, runId: string): Promise<PendingUpdate[]> {
  const { rows } = await sql<PendingUpdate>`
    select ${RECEIPT}, u.change from parley.run_updates u
    where u.tenant_id = ${scope.tenant_id}::uuid and u.run_id = ${runId}::uuid and u.completed_at is null
    order by u.revision`.execute(db)
  return rows
}

/** Null where there is none. */
export async function readUpdate(
  db: Queries,
  scope: Scope,
  runId: string,
  revision: number,
): Promise<UpdateReceipt | null> {
  const { rows } = await sql<UpdateReceipt>`
    select ${RECEIPT} from parley.run_updates u
    where u.tenant_id = ${scope.tenant_id}::uuid and u.run_id = ${runId}::uuid and u.revision = ${revision}::integer`.execute(
    db,
  )
  return rows[0] ?? null
}

/** The owner says what became of an update; `applied` writes it into the run. Null: lost, or settled before. */
export async function settleUpdate(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  revision: number,
  outcome: { readonly status: 'applying' | 'applied' } | { readonly status: 'rejected'; readonly reason: string },
): Promise<UpdateReceipt | null> {
  const { rows } = await sql<{ change: RunChange }>`
    with held as ${heldRow(scope, owned)}
    select u.change from parley.run_updates u join held using (tenant_id, run_id)
    where u.revision = ${revision}::integer and u.completed_at is null for no key update of u`.execute(tx)
  const [pending] = rows
  if (pending === undefined) return null
  if (outcome.status === 'applied' && !(await applyChange(tx, scope, owned.run_id, pending.change)))
    return settle(tx, scope, owned.run_id, revision, 'rejected', 'too_many_variables')
  const reason = outcome.status === 'rejected' ? outcome.reason : null
  return settle(tx, scope, owned.run_id, revision, outcome.status, reason)
}

/** False, and nothing happened, where the run would have too many variables. */
async function applyChange(tx: Queries, scope: Scope, runId: string, change: RunChange): Promise<boolean> {
  const { override_dynamic_variables: variables = {}, metadata } = change
  const isMetadataGiven = metadata !== undefined
  const { numAffectedRows } = await sql`
    update parley.runs r set dynamic_variables = merged.variables,
      metadata = case when ${isMetadataGiven}::boolean then ${metadata ? JSON.stringify(metadata) : null}::jsonb else r.metadata end
    from (
      select dynamic_variables || ${JSON.stringify(variables)}::jsonb as variables from parley.runs
      where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid for no key update
    ) merged
    where r.tenant_id = ${scope.tenant_id}::uuid and r.run_id = ${runId}::uuid
      and (select count(*) from jsonb_object_keys(merged.variables)) <= ${MAX_VARIABLES}::integer`.execute(tx)
  return numAffectedRows === 1n
}

async function settle(
  tx: Queries,
  scope: Scope,
  runId: string,
  revision: number,
  status: UpdateStatus,
  reason: string | null,
): Promise<UpdateReceipt> {
  const { rows } = await sql<UpdateReceipt>`
    update parley.run_updates u set status = ${status}::text, reason = ${reason}::text,
      completed_at = case when ${status}::text <> 'applying' then parley.now_ms() end
    where u.tenant_id = ${scope.tenant_id}::uuid and u.run_id = ${runId}::uuid and u.revision = ${revision}::integer
    returning ${RECEIPT}`.execute(tx)
  return rows[0]!
}
