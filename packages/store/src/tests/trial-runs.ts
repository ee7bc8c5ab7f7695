import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { NewEvent } from '../runs/events.ts'
import type { Measurement } from '../runs/protocol.ts'
import { textOf } from '../runs/transcripts.ts'
import type { JsonObject, RunChannel, RunMode } from '../schema-runs.ts'
import type { TakenTrial } from './protocol.ts'

/** The run of a trial, which is stored whole when the trial has ended. */
export interface TrialRun {
  readonly run_id: string
  readonly channel: RunChannel
  readonly mode: RunMode
  readonly state: 'completed' | 'failed'
  /** A `RunOutcome` of the API. */
  readonly outcome: JsonObject
  readonly disposition: string
  /** ISO times. */
  readonly started_at: string
  readonly ended_at: string
  readonly dynamic_variables: Readonly<Record<string, string>>
  readonly latency: JsonObject | null
  /** The timeline, in order. */
  readonly events: readonly NewEvent[]
  /** Each an `Utterance` of the API. */
  readonly utterances: readonly JsonObject[]
  readonly measurements: readonly Measurement[]
  /** Model requests. */
  readonly effects: readonly TrialEffect[]
}

/** A model request of a trial, as in the effects resource. */
interface TrialEffect {
  readonly effect_id: string
  readonly effect_key: string
  readonly action: { readonly id: string; readonly version: number }
  readonly effect_kind: string
  readonly node_id: string | null
  readonly ordinal: number | null
  readonly state: string
  readonly send_attempts: number
  readonly receipts: readonly object[]
  readonly error_code: string | null
  readonly created_at: string
  readonly settled_at: string | null
}

/**
 * Stores the run of a trial with its timeline, transcript and effects. It takes none of the simultaneous calls of the environment, is
 * never dialled and sends no webhooks; its cost is measured and not billed.
 */
export async function insertTrialRun(tx: Queries, trial: TakenTrial, run: TrialRun): Promise<void> {
  const { scope, test_run_id, trial_id, suite_id, agent_id, version } = trial
  const { tenant_id } = scope
  const { run_id } = run
  const trigger = {
    kind: 'test',
    test_run_id,
    suite_id,
    case_id: trial.test_case.case_id,
    trial_id,
    trial: trial.trial,
  }
  const isPhone = run.channel === 'phone'
  await sql`
    insert into parley.runs (
      tenant_id, run_id, agent_id, version, channel, mode, state, phone_state, outcome, disposition, trigger, test, created_at, started_at,
      ended_at, contact, dynamic_variables, latency, can_dial, notifies, rate_card_id
    ) values (
      ${tenant_id}::uuid, ${run_id}::uuid, ${agent_id}, ${version}::integer, ${run.channel}, ${run.mode}, ${run.state},
      ${isPhone ? 'ended' : null}::text, ${JSON.stringify(run.outcome)}::jsonb, ${run.disposition}, ${JSON.stringify(trigger)}::jsonb,
      true, ${run.started_at}::timestamptz, ${run.started_at}::timestamptz, ${run.ended_at}::timestamptz,
      ${isPhone ? 'human' : 'not_applicable'}, ${JSON.stringify(run.dynamic_variables)}::jsonb, ${textOf(run.latency)}::jsonb,
      false, false, (
        select c.rate_card_id from parley.rate_cards c where c.tenant_id = ${tenant_id}::uuid and c.effective_at <= now()
        order by c.effective_at desc, c.installed_at desc, c.rate_card_id limit 1
      )
    )`.execute(tx)
  await sql`
    insert into parley.run_events (tenant_id, run_id, seq, at, offset_ms, kind, fields)
    select ${tenant_id}::uuid, ${run_id}::uuid, item.place::integer, (item.value ->> 'at')::timestamptz,
      (item.value ->> 'offset_ms')::double precision, item.value ->> 'kind', item.value -> 'fields'
    from jsonb_array_elements(${JSON.stringify(run.events)}::jsonb) with ordinality as item (value, place)`.execute(tx)
  await sql`
    insert into parley.run_transcripts (tenant_id, run_id, state, final, utterances)
    values (${tenant_id}::uuid, ${run_id}::uuid, 'complete', true, ${JSON.stringify(run.utterances)}::jsonb)`.execute(
    tx,
  )
  await sql`
    insert into parley.run_effects (
      tenant_id, run_id, effect_id, effect_key, action_id, action_version, effect_kind, idempotent, node_id, ordinal, state,
      send_attempts, receipts, error_code, created_at, settled_at
    )
    select ${tenant_id}::uuid, ${run_id}::uuid, e.effect_id, e.effect_key, e.action ->> 'id', (e.action ->> 'version')::integer,
      e.effect_kind, true, e.node_id, e.ordinal, e.state, e.send_attempts, e.receipts, e.error_code, e.created_at, e.settled_at
    from jsonb_to_recordset(${JSON.stringify(run.effects)}::jsonb) as e (
      effect_id uuid, effect_key text, action jsonb, effect_kind text, node_id text, ordinal integer, state text,
      send_attempts integer, receipts jsonb, error_code text, created_at timestamptz, settled_at timestamptz)`.execute(
    tx,
  )
  await sql`select parley.record_usage(${tenant_id}::uuid, ${run_id}::uuid, ${JSON.stringify(run.measurements)}::jsonb)`.execute(
    tx,
  )
}
