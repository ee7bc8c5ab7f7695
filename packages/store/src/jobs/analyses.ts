import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { StoreError } from '../errors.ts'
import type { Queries } from '../protocol.ts'
import { effectIdOf } from '../runs/effects.ts'
import { addUsage, writeAnalysis } from '../runs/finish.ts'
import { announceAnalysis } from '../runs/outbox.ts'
import type { Measurement } from '../runs/protocol.ts'
import type { JsonObject } from '../schema-runs.ts'
import type { DueAnalysis } from './protocol.ts'

/** Model requests of one try: what they used, and what became of the try. */
export interface AnalysisInference {
  /** Sends of this try, at least 1; each gets a receipt. */
  readonly sends: number
  /** ISO time of the first. */
  readonly created_at: string
  /** Null: succeeded. */
  readonly error_code: string | null
  readonly measurements: readonly Measurement[]
}

/** What came of a try. */
export type AnalysisResult =
  | {
      readonly kind: 'made'
      readonly analysis: JsonObject
      readonly disposition?: string
      readonly successful: boolean | null
    }
  /** Nothing to analyse, or not to be had: no more tries. */
  | { readonly kind: 'given_up'; readonly errorCode: string }
  | { readonly kind: 'again'; readonly inMs: number }

/**
 * Takes analyses of one environment that are due, the longest due first; each belongs to the caller for `leaseMs`. Those
 * that were tried `tries` times and never settled are given up.
 */
export async function takeAnalyses(
  tx: Queries,
  scope: Scope,
  leaseMs: number,
  atMost: number,
  tries: number,
): Promise<DueAnalysis[]> {
  const { rows } = await sql<{ run_id: string; attempts: number; settled: boolean }>`
    with due as (
      select a.tenant_id, a.run_id from parley.run_analyses a
      where a.tenant_id = ${scope.tenant_id}::uuid and a.settled_at is null
        and a.next_at <= statement_timestamp()
        and (a.lease_until is null or a.lease_until <= clock_timestamp())
      order by a.next_at limit ${atMost}::integer
      for no key update of a skip locked
    )
    update parley.run_analyses a
    set attempts = a.attempts + 1,
      lease_until = case when a.attempts < ${tries}::integer then parley.now_ms() + ${leaseMs}::integer * interval '1 ms' end,
      settled_at = case when a.attempts >= ${tries}::integer then parley.now_ms() end,
      error_code = case when a.attempts >= ${tries}::integer then 'owner_lost' end
    from due where a.tenant_id = due.tenant_id and a.run_id = due.run_id
    returning a.run_id, a.attempts, a.settled_at is not null as settled`.execute(tx)
  return rows.filter(({ settled }) => !settled).map(({ run_id, attempts }) => ({ run_id, attempts, scope }))
}

/** In how many ms the environment's next analysis is due that nobody is making, 0 if it is overdue; null: there is none. */
export async function nextAnalysisDueInMs(tx: Queries, scope: Scope): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number }>`
    select greatest(0, ceil(extract(epoch from a.next_at - clock_timestamp()) * 1000))::integer as in_ms
    from parley.run_analyses a
    where a.tenant_id = ${scope.tenant_id}::uuid and a.settled_at is null
      and (a.lease_until is null or a.lease_until <= clock_timestamp())
    order by a.next_at limit 1`.execute(tx)
  return rows[0]?.in_ms ?? null
}

const ACTION = { id: 'model.infer', version: 1 }

/**
 * Settles a try with all that belongs to it, in one transaction: the model request's row, what it used, the analysis and
 * its webhook. `lost`: another has it by now, and nothing was written.
 */
export async function settleAnalysis(
  tx: Queries,
  due: DueAnalysis,
  result: AnalysisResult,
  inference: AnalysisInference | null,
): Promise<'settled' | 'lost'> {
  const { scope, run_id: runId } = due
  const { numAffectedRows } = await sql`
    update parley.run_analyses set lease_until = null,
      settled_at = case when ${result.kind !== 'again'}::boolean then parley.now_ms() end,
      error_code = ${result.kind === 'given_up' ? result.errorCode : null}::text,
      next_at = parley.now_ms() + ${result.kind === 'again' ? result.inMs : 0}::double precision * interval '1 ms'
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid and attempts = ${due.attempts}::integer
      and lease_until > clock_timestamp()`.execute(tx)
  if (numAffectedRows !== 1n) return 'lost'
  if (inference !== null) await insertInference(tx, due, inference)
  const measurements = inference?.measurements ?? []
  if (result.kind !== 'made') {
    if (measurements.length > 0) await addUsage(tx, scope, runId, measurements)
    return 'settled'
  }
  const { analysis, disposition, successful } = result
  const found = { analysis, successful, measurements, ...(disposition !== undefined && { disposition }) }
  if (!(await writeAnalysis(tx, scope, runId, found)))
    throw new StoreError('analysis_exists', `the run ${runId} has an analysis that this queue knows nothing of`)
  await announceAnalysis(tx, scope, runId)
  return 'settled'
}

/** The run has no owner any more: the row is guarded by the try that it belongs to. */
async function insertInference(tx: Queries, due: DueAnalysis, inference: AnalysisInference): Promise<void> {
  const { scope, run_id: runId, attempts } = due
  const key = `analysis/${attempts}`
  const { sends, created_at, error_code } = inference
  const receipts = Array.from({ length: sends }, (_, send) => ({
    kind: 'gateway_inference',
    attempt_id: effectIdOf(runId, `${key}/${send + 1}`),
    measurement_id: null,
  }))
  await sql`
    insert into parley.run_effects (
      tenant_id, run_id, effect_id, effect_key, action_id, action_version, effect_kind, idempotent, state, send_attempts, receipts,
      error_code, created_at, settled_at
    ) values (
      ${scope.tenant_id}::uuid, ${runId}::uuid, ${effectIdOf(runId, key)}::uuid, ${key}::text, ${ACTION.id}::text,
      ${ACTION.version}::integer, 'gateway_inference', true, ${error_code === null ? 'succeeded' : 'failed'}::text,
      ${sends}::integer, ${JSON.stringify(receipts)}::jsonb, ${error_code}::text, ${created_at}::timestamptz, parley.now_ms()
    ) on conflict do nothing`.execute(tx)
}
