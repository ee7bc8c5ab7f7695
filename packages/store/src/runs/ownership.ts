import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, PhoneState, RunAnsweredBy, RunContact, RunState } from '../schema-runs.ts'
import type { RunOwner, RunOwnership } from './protocol.ts'

/** Default lease of an owner, which renews it every third of this time. */
export const RUN_LEASE_MS = 9000

interface ClaimedRun extends OfClaim, RunOwnership {}

interface OfClaim {
  /** Sequence number of the last timeline item. */
  readonly last_seq: number
  readonly cancel_asked: boolean
}

/** Condition on `parley.run_ownership`: this owner has a valid lease of the run. */
export function isHeld(scope: Scope, { run_id, fence }: RunOwnership) {
  return sql<boolean>`(tenant_id = ${scope.tenant_id}::uuid and run_id = ${run_id}::uuid and fence = ${fence}::bigint
    and lease_until > clock_timestamp())`
}

/** Condition on `parley.run_ownership`, named by `alias`: the run with this id, or a run that continues its conversation. */
export function isOfCall(alias: 'o' | 'c', scope: Scope, runId: string) {
  const row = sql.raw(alias)
  return sql<boolean>`${row}.tenant_id = ${scope.tenant_id}::uuid
    and (${row}.run_id = ${runId}::uuid or ${row}.first_run_id = ${runId}::uuid)`
}

/** The row of ownership, locked until the transaction ends, so that the run cannot be taken over meanwhile; no row: lost. */
export function heldRow(scope: Scope, owned: RunOwnership) {
  return sql`(select tenant_id, run_id, cancel_asked from parley.run_ownership where ${isHeld(scope, owned)} for no key update)`
}

/** Takes a run that waits for an owner. Null: it has another owner, has ended or has expired. */
export async function claimRun(
  tx: Queries,
  scope: Scope,
  runId: string,
  owner: RunOwner,
  leaseMs = RUN_LEASE_MS,
): Promise<ClaimedRun | null> {
  const { rows } = await sql<ClaimedRun>`
    update parley.run_ownership set engine = ${owner.engine}::text, worker = ${owner.worker}::text, fence = fence + 1,
      lease_until = parley.now_ms() + ${leaseMs}::integer * interval '1 ms', renewed_at = parley.now_ms()
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid and engine is null
      and start_before > clock_timestamp()
    returning run_id, fence, last_seq, cancel_asked`.execute(tx)
  return rows[0] ?? null
}

/** Whether this owner has the run; if so, it keeps it until the transaction ends. */
export async function ownsRun(tx: Queries, scope: Scope, owned: RunOwnership): Promise<boolean> {
  const { rows } = await sql`select from ${heldRow(scope, owned)} held`.execute(tx)
  return rows.length > 0
}

/** Releases a run that has not started, so that another owner can take it before it expires. */
export async function releaseRun(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
): Promise<'released' | 'lost' | 'not_allowed'> {
  const { numAffectedRows } = await sql`
    update parley.run_ownership o set engine = null, worker = null, lease_until = null
    where ${isHeld(scope, owned)} and exists (
      select from parley.runs r where r.tenant_id = o.tenant_id and r.run_id = o.run_id and r.state = 'admitted'
        and r.invite_sent_at is null
    )`.execute(tx)
  if (numAffectedRows === 1n) return 'released'
  return (await ownsRun(tx, scope, owned)) ? 'not_allowed' : 'lost'
}

/** Changes of a live run; omitted fields are unchanged. */
export interface RunMove {
  readonly state?: Extract<RunState, 'running' | 'ending'>
  readonly phone_state?: PhoneState
  readonly contact?: RunContact
  readonly answered_by?: RunAnsweredBy
  readonly caller_identity?: JsonObject
}

/** Changes the state of a live run; `not_allowed`, without any change, unless it is a step forward. Terminal states: `finishRun`. */
export async function moveRun(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  move: RunMove,
): Promise<'moved' | 'lost' | 'not_allowed'> {
  const { numAffectedRows } = await sql`with held as ${heldRow(scope, owned)} ${moveUpdate(move)}`.execute(tx)
  if (numAffectedRows === 1n) return 'moved'
  return (await ownsRun(tx, scope, owned)) ? 'not_allowed' : 'lost'
}

/** Makes the move of the run in the relation `held`, if it is a step forward. */
export function moveUpdate(move: RunMove): RawBuilder<unknown> {
  const { state = null, phone_state = null, contact = null, answered_by = null, caller_identity } = move
  const identity = caller_identity === undefined ? null : JSON.stringify(caller_identity)
  return sql`
    update parley.runs r set
      state = coalesce(${state}::text, r.state),
      phone_state = coalesce(${phone_state}::text, r.phone_state),
      contact = coalesce(${contact}::text, r.contact),
      answered_by = coalesce(${answered_by}::text, r.answered_by),
      caller_identity = coalesce(${identity}::jsonb, r.caller_identity),
      started_at = case when ${state}::text = 'running' then coalesce(r.started_at, parley.now_ms()) else r.started_at end
    from held
    where r.tenant_id = held.tenant_id and r.run_id = held.run_id
      and parley.run_may_move('state', r.state, coalesce(${state}::text, r.state))
      and parley.run_may_move('phone_state', r.phone_state, coalesce(${phone_state}::text, r.phone_state))`
}

/**
 * Stores the fields that a CANCEL needs (Request-URI, Call-ID, From tag, CSeq, branch, sent-by, route), before an
 * outbound INVITE is sent. From then on the call counts towards the daily limit, whatever its result.
 */
export function storeDial(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  dial: JsonObject,
): Promise<'stored' | 'lost'> {
  return store(
    tx,
    scope,
    owned,
    sql`dial = ${JSON.stringify(dial)}::jsonb, invite_sent_at = coalesce(invite_sent_at, parley.now_ms())`,
  )
}

/** Stores the dialog (Call-ID, tags, route set, target, CSeq) at the answer. */
export function storeDialog(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  dialog: JsonObject,
): Promise<'stored' | 'lost'> {
  return store(tx, scope, owned, sql`dialog = ${JSON.stringify(dialog)}::jsonb`)
}

async function store(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  assignments: ReturnType<typeof sql>,
): Promise<'stored' | 'lost'> {
  const { numAffectedRows } = await sql`
    with held as ${heldRow(scope, owned)}
    update parley.runs r set ${assignments} from held
    where r.tenant_id = held.tenant_id and r.run_id = held.run_id`.execute(tx)
  return numAffectedRows === 1n ? 'stored' : 'lost'
}
