import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Database, Queries } from '../protocol.ts'
import type { JsonObject, PhoneState, RunContact, RunState } from '../schema-runs.ts'
import { usageInLedger } from './effects.ts'
import { appendEvents, type Gap, type NewEvent } from './events.ts'
import { snapshotPending } from './outbox.ts'
import { ownsRun } from './ownership.ts'
import type { Measurement, RunOwnership } from './protocol.ts'
import { type NewTranscript, transcriptInsert, writeFinalTranscript } from './transcripts.ts'

type TerminalState = Extract<RunState, 'completed' | 'failed' | 'cancelled' | 'rejected' | 'expired'>

/** End of a run; omitted fields are unchanged. */
export interface RunEnding {
  readonly state: TerminalState
  readonly phone_state?: PhoneState
  /** As RunOutcome; null for rejected and expired runs. */
  readonly outcome: JsonObject | null
  readonly disposition: string | null
  /** Whole ms since the call became active. */
  readonly connected_ms?: number
  readonly contact?: RunContact
  readonly successful?: boolean
  readonly latency?: JsonObject
  readonly quality?: JsonObject
  /**
   * Whether the owner died: pending updates become `indeterminate` then, and the run has the usage that its ledger knows. Default false.
   */
  readonly engine_lost?: boolean
  /** Without `connected_ms`. */
  readonly measurements?: readonly Measurement[]
}

export interface LastWords {
  /** Last items of the timeline; the item of the terminal state is appended automatically. */
  readonly events?: { readonly first: number; readonly items: readonly NewEvent[] }
  /** Replaces the checkpoint. */
  readonly transcript?: NewTranscript
}

export type Finish = 'finished' | 'lost' | 'not_allowed'

/**
 * Ends a run atomically: final state, timeline, transcript, usage with its cost, webhooks, and release of the permit.
 * A run whose cancellation was requested ends as `cancelled`, whatever `ending` says. Returns `lost` if the run has ended
 * or the fence is stale. Call it last in the transaction.
 */
export async function finishRun(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  ending: RunEnding,
  { events, transcript }: LastWords = {},
): Promise<Finish | Gap> {
  if (!(await ownsRun(tx, scope, owned))) return 'lost'
  if (!(await mayFinish(tx, scope, owned.run_id, ending))) return 'not_allowed'
  if (events !== undefined) {
    const appended = await appendEvents(tx, scope, owned, events.first, events.items)
    if (appended !== 'appended') return appended
  }
  if (transcript !== undefined) await writeFinalTranscript(tx, scope, owned, transcript)
  const measurements = ending.engine_lost === true ? await usageInLedger(tx, scope, owned.run_id) : ending.measurements
  const measured = measurements === undefined ? ending : { ...ending, measurements }
  return finishBy(sql`parley.finish_run`, tx, scope, owned.run_id, owned.fence, measured)
}

/**
 * As {@link finishRun}, in a transaction of its own of one round trip: admissions and ends of the environment wait for each other until
 * the commit, which must not wait for this process. `transcript` replaces the checkpoint; null: there is none.
 */
export async function endRun(
  database: Database,
  scope: Scope,
  owned: RunOwnership,
  ending: RunEnding,
  transcript: NewTranscript | null,
): Promise<Finish> {
  const { run_id, fence } = owned
  const finish = sql`with done as materialized (
      select parley.finish_run(${scope.tenant_id}::uuid, ${run_id}::uuid, ${fence}::bigint, ${JSON.stringify(ending)}::jsonb) as answer
    )`
  const held = sql`held as (select ${scope.tenant_id}::uuid as tenant_id, ${run_id}::uuid as run_id from done where answer = 'finished')`
  const statement =
    transcript === null
      ? sql<{ answer: Finish }>`${finish} select answer from done`
      : sql<{
          answer: Finish
        }>`${finish}, ${held}, transcript as (${transcriptInsert(transcript, true)}) select answer from done`
  const { rows } = await database.transaction(
    scope,
    async tx => {
      // A run that is not ended by this has no webhook that waits: then the second statement finds nothing.
      const [finished] = await Promise.all([statement.execute(tx), snapshotPending(tx, scope, run_id, 'run.ended')])
      return finished
    },
    'one-trip',
  )
  return rows[0]!.answer
}

/** Ends a run without an owner: cancelled before it began. `lost`: it has an owner or has ended. */
function finishUnowned(tx: Queries, scope: Scope, runId: string, ending: RunEnding): Promise<Finish> {
  return finishBy(sql`parley.finish_run`, tx, scope, runId, null, ending)
}

/** Ends a run by the given database function instead of `parley.finish_run`. */
export async function finishBy(
  finish: RawBuilder<unknown>,
  tx: Queries,
  scope: Scope,
  runId: string,
  fence: string | null,
  ending: RunEnding,
): Promise<Finish> {
  const { rows } = await sql<{ answer: Finish }>`
    select ${finish}(${scope.tenant_id}::uuid, ${runId}::uuid, ${fence}::bigint, ${JSON.stringify(ending)}::jsonb) as answer`.execute(
    tx,
  )
  const { answer } = rows[0]!
  if (answer === 'finished') await snapshotPending(tx, scope, runId, 'run.ended')
  return answer
}

/**
 * Cancels a run. Without an owner it ends at once (`finished`); an owner gets the request when it renews its lease
 * (`requested`). `ended`: it had ended, or does not exist.
 */
export async function cancelRun(tx: Queries, scope: Scope, runId: string): Promise<'finished' | 'requested' | 'ended'> {
  const { rows } = await sql<{ engine: string | null; kind: string }>`
    update parley.run_ownership set cancel_asked = true
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid
    returning engine, kind`.execute(tx)
  const [live] = rows
  if (live === undefined) return 'ended'
  if (live.engine !== null) return 'requested'
  const finished = await finishUnowned(tx, scope, runId, {
    state: 'cancelled',
    ...(live.kind === 'phone' && { phone_state: 'ended' as const }),
    outcome: { kind: 'cancelled', detail: null, sip_status: null, ended_by: 'operator' },
    disposition: 'cancelled',
  })
  if (finished !== 'finished')
    throw new TypeError(`parley.finish_run returned "${finished}" for a locked run without an owner`)
  return finished
}

/** Cancels the runs of a revoked API key that have not begun; returns their ids. An owner gets the request when it renews. */
export function cancelRunsOfKey(tx: Queries, scope: Scope, keyId: string): Promise<string[]> {
  return cancelRunsWhere(tx, scope, sql`r.key_id = ${keyId}::uuid`)
}

/** As `cancelRunsOfKey`, for the calls of a revoked site key. */
export function cancelRunsOfSiteKey(tx: Queries, scope: Scope, siteKeyId: string): Promise<string[]> {
  return cancelRunsWhere(
    tx,
    scope,
    sql`exists (
      select from parley.web_calls w
      where w.tenant_id = o.tenant_id and w.run_id = o.run_id and w.site_key_id = ${siteKeyId}::uuid
    )`,
  )
}

async function cancelRunsWhere(tx: Queries, scope: Scope, condition: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ run_id: string }>`
    select o.run_id from parley.run_ownership o join parley.runs r using (tenant_id, run_id)
    where o.tenant_id = ${scope.tenant_id}::uuid and (o.engine is null or r.state = 'admitted') and ${condition}
    order by o.run_id for update of o`.execute(tx)
  for (const { run_id } of rows) await cancelRun(tx, scope, run_id)
  return rows.map(row => row.run_id)
}

/**
 * Cancels the runs of a removed member that have not begun, in every environment of the organisation; returns their ids. An
 * owner gets the request when it renews.
 */
export async function cancelRunsOfMember(tx: Queries, scope: Scope, userId: string): Promise<string[]> {
  const environments = await tx
    .selectFrom('tenants')
    .select(['owner_id', 'environment', 'tenant_id'])
    .where('owner_id', '=', scope.owner_id)
    .orderBy('environment')
    .execute()
  const cancelled: string[] = []
  for (const environment of environments) {
    await enterEnvironment(tx, environment)
    cancelled.push(...(await cancelRunsWhere(tx, environment, sql`r.user_id = ${userId}::uuid`)))
  }
  await enterEnvironment(tx, scope)
  return cancelled
}

/** Makes the transaction see another environment of its organisation. */
async function enterEnvironment(tx: Queries, { tenant_id }: Scope): Promise<void> {
  await sql`select set_config('parley.tenant', ${tenant_id}, true)`.execute(tx)
}

/** Adds usage from after the end (the analysis) to the run and its cost. */
export async function addUsage(
  tx: Queries,
  scope: Scope,
  runId: string,
  measurements: readonly Measurement[],
): Promise<void> {
  await sql`select parley.record_usage(${scope.tenant_id}::uuid, ${runId}::uuid, ${JSON.stringify(measurements)}::jsonb)`.execute(
    tx,
  )
}

/**
 * Stores the analysis of an ended run, once, with its usage. Returns false without any change if it was stored before or
 * the run is live.
 */
export async function writeAnalysis(
  tx: Queries,
  scope: Scope,
  runId: string,
  found: {
    readonly analysis: JsonObject
    readonly disposition?: string
    readonly successful: boolean | null
    readonly measurements: readonly Measurement[]
  },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update parley.runs set analysis = ${JSON.stringify(found.analysis)}::jsonb,
      disposition = coalesce(${found.disposition ?? null}::text, disposition), successful = ${found.successful}::boolean
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid
      and ended_at is not null and analysis is null`.execute(tx)
  if (numAffectedRows !== 1n) return false
  await addUsage(tx, scope, runId, found.measurements)
  return true
}

async function mayFinish(tx: Queries, scope: Scope, runId: string, ending: RunEnding): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select parley.run_may_move('state', state, ${ending.state}::text)
      and parley.run_may_move('phone_state', phone_state, coalesce(${ending.phone_state ?? null}::text, phone_state)) as may
    from parley.runs where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid`.execute(tx)
  return rows[0]?.may === true
}
