import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, UpdateStatus } from '../schema-runs.ts'
import { statementTime } from '../statements.ts'
import { heldRow } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'

/** How long an engine has to apply an update. */
const DEADLINE_MS = 10_000
/** Largest number of variables of a run. */
const MAX_VARIABLES = 100

/** A change of a live run; omitted fields are unchanged. */
export interface RunChange {
  /** Merged by name. */
  readonly override_dynamic_variables?: Readonly<Record<string, string>>
  /** Replaces the whole value; null clears it. */
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
 * Stores an update. Without an owner of the run it is applied at once, or `rejected` (`too_many_variables`); otherwise
 * the owner has 10 s to apply it. Null: the run is ending, has ended or does not exist. The result becomes a timeline
 * item, written here if the run has no owner, else by the owner, at the latest at the end of the run.
 */
export async function storeUpdate(
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
  // The row of ownership is locked and has no owner, so that nothing else appends to the timeline.
  await sql`select parley.tell_updates(${scope.tenant_id}::uuid, ${runId}::uuid)`.execute(tx)
  return settled
}

/** The updates that are not settled, in order, for their owner to apply. None if the run is lost. */
export async function takeUpdates(tx: Queries, scope: Scope, owned: RunOwnership): Promise<PendingUpdate[]> {
  const { rows } = await sql<PendingUpdate>`
    with held as ${heldRow(scope, owned)}, taken as (
      update parley.run_updates u set status = 'applying'
      from held where u.tenant_id = held.tenant_id and u.run_id = held.run_id and u.completed_at is null
      returning ${RECEIPT}, u.change
    )
    select * from taken order by revision`.execute(tx)
  return rows
}

/** Null: not found. */
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

/** Stores the owner's result of an update; `applied` writes it into the run. Null: the run is lost, or the update was settled before. */
export async function settleUpdate(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  revision: number,
  outcome: { readonly status: 'applied' } | { readonly status: 'rejected'; readonly reason: string },
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

/** False, without any change: the run would have too many variables. */
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
    update parley.run_updates u set status = ${status}::text, reason = ${reason}::text, completed_at = parley.now_ms()
    where u.tenant_id = ${scope.tenant_id}::uuid and u.run_id = ${runId}::uuid and u.revision = ${revision}::integer
    returning ${RECEIPT}`.execute(tx)
  return rows[0]!
}
