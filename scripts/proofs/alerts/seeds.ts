import type { Environment } from './alert-platform.ts'

interface SeededCalls {
  readonly count: number
  /** Default `completed`; `running`: it has not ended. */
  readonly state?: 'completed' | 'failed' | 'running'
  /** Each, as numeric; null: it has no price. Default 0. */
  readonly cost?: string | null
  /** Of each call's only turn, ms; default: the call has no turn. */
  readonly llmMs?: number
  /** Of each call; default: ready. */
  readonly recording?: 'ready' | 'partial' | 'failed' | 'processing'
}

/** Stores phone runs of the agent `caller` that were created now, with what they used and left behind. */
export async function seedCalls(
  { sql }: Environment,
  { count, state = 'completed', cost = '0', llmMs, recording = 'ready' }: SeededCalls,
): Promise<void> {
  await sql(
    `with made as (
       insert into parley.runs (tenant_id, agent_id, version, channel, mode, state, phone_state, outcome, disposition, trigger, test,
         created_at, started_at, ended_at, connected_ms, contact, dynamic_variables, can_dial, notifies, rate_card_id, cost_usd)
       select $1, 'caller', 0, 'phone', 'outbound', $3, case when $3 = 'running' then 'active' else 'ended' end,
         case when $3 <> 'running' then '{"kind": "completed", "detail": null, "sip_status": null, "ended_by": "agent"}'::jsonb end,
         case when $3 <> 'running' then 'completed' end,
         jsonb_build_object('kind', 'api', 'idempotency_key_sha256', repeat('0', 64)), false, parley.now_ms(), parley.now_ms(),
         case when $3 <> 'running' then parley.now_ms() end, 60000, 'human', '{}', false, false, null, $4::numeric
       from generate_series(1, $2::integer) returning run_id
     ), turns as (
       insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields)
       select $1, run_id, 1, parley.now_ms(), 'turn', jsonb_build_object('index', 0, 'latency', jsonb_build_object(
         'e2e', null, 'endpointing', null, 'stt', null, 'llm', $5::numeric, 'tts', null, 'engine', null))
       from made where $5::numeric is not null
     )
     insert into parley.run_recordings (tenant_id, run_id, state) select $1, run_id, $6 from made`,
    count,
    state,
    cost,
    llmMs ?? null,
    recording,
  )
}

/** Takes all calls so far out of every window. */
export async function ageCalls({ sql }: Environment): Promise<void> {
  await sql("update parley.runs set created_at = created_at - interval '2 days' where tenant_id = $1")
}
