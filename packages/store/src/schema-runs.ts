import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** ISO time in UTC with milliseconds. */
type Instant = string
/** Written as JSON text, read parsed. */
type JsonColumn<Value> = ColumnType<Value, string | undefined, string>

export type RunChannel = 'cloud' | 'phone' | 'web'
export type RunMode = 'task' | 'chat' | 'background' | 'outbound' | 'inbound'
export type RunState = 'admitted' | 'running' | 'ending' | 'completed' | 'failed' | 'cancelled' | 'rejected' | 'expired'
export type PhoneState =
  | 'admitted'
  | 'preparing'
  | 'awaiting_sip'
  | 'dialing'
  | 'ringing'
  | 'active'
  | 'terminating'
  | 'ended'
  | 'rejected'
  | 'expired'
  | 'setup_failed'
/** What answered a call, finer than its contact. */
export type RunAnsweredBy =
  | 'human'
  | 'voicemail'
  | 'mailbox_unavailable'
  | 'ivr'
  | 'screener'
  | 'fax'
  | 'announcement'
  | 'silence'
export type RunContact = 'human' | 'voicemail' | 'ivr' | 'unknown' | 'not_applicable'
/** The kinds of runs that processes claim: the channel, or the mode of a cloud run. */
export type RunKind = 'phone' | 'web' | 'task' | 'chat' | 'background'
type StoredJson = string | number | boolean | null | readonly StoredJson[] | { readonly [name: string]: StoredJson }
/** JSON in the contract's form; the store does not read its members. */
export type JsonObject = { readonly [name: string]: StoredJson }

interface OfRun {
  tenant_id: Generated<string>
  run_id: string
}

export interface EnginesTable {
  engine_id: string
  addresses: ColumnType<JsonObject, string, string>
  capacity: number
  live: Generated<number>
  draining: Generated<boolean>
  started_at: Generated<Instant>
  heartbeat_at: Generated<Instant>
}

export interface StoredRate {
  readonly meter: Meter
  readonly per: number
  readonly price_usd: string
  readonly channel: RunChannel | null
  readonly provider: string | null
  readonly model_id: string | null
}

export type Meter =
  | 'connected_ms'
  | 'llm_input_tokens'
  | 'llm_output_tokens'
  | 'llm_audio_input_tokens'
  | 'llm_audio_output_tokens'
  | 'stt_ms'
  | 'tts_characters'

export interface RateCardsTable {
  tenant_id: Generated<string>
  rate_card_id: string
  effective_at: Instant
  reserve_usd: ColumnType<Readonly<Record<RunChannel, string>>, string, string>
  rates: ColumnType<readonly StoredRate[], string, string>
  installed_at: Generated<Instant>
}

export interface BudgetsTable {
  tenant_id: Generated<string>
  policy_id: Generated<string>
  /** numeric as text. */
  cap_usd: string | null
  updated_at: Generated<Instant>
}

export interface RunCountersTable {
  tenant_id: Generated<string>
  live: Generated<number>
  unresolved: Generated<number>
  reserved_usd: Generated<string>
}

export interface SpendMonthsTable {
  tenant_id: Generated<string>
  month: string
  spent_usd: string
}

/** Only `parley.admit_run` inserts rows. */
export interface RunsTable extends OfRun {
  agent_id: string
  version: number
  channel: RunChannel
  mode: RunMode
  state: RunState
  phone_state: PhoneState | null
  outcome: JsonColumn<JsonObject | null>
  disposition: string | null
  trigger: JsonColumn<JsonObject>
  test: boolean
  test_run_id: GeneratedAlways<string | null>
  created_at: Instant
  started_at: Instant | null
  ended_at: Instant | null
  /** int8 as text. */
  connected_ms: ColumnType<string | null, number | null, number | null>
  from_number: string | null
  to_number: string | null
  trunk_id: string | null
  contact: RunContact | null
  answered_by: RunAnsweredBy | null
  successful: boolean | null
  dynamic_variables: JsonColumn<Readonly<Record<string, string>>>
  metadata: JsonColumn<JsonObject | null>
  latency: JsonColumn<JsonObject | null>
  analysis: JsonColumn<JsonObject | null>
  caller_identity: JsonColumn<JsonObject | null>
  quality: JsonColumn<JsonObject | null>
  key_id: string | null
  user_id: string | null
  can_dial: boolean
  notifies: boolean
  dial: JsonColumn<JsonObject | null>
  dialog: JsonColumn<JsonObject | null>
  invite_sent_at: Instant | null
  call_minute: Instant | null
  rate_card_id: string | null
  reserve_usd: Generated<string>
  cost_usd: string | null
  llm_input_tokens: string | null
  llm_output_tokens: string | null
  stt_ms: string | null
  tts_characters: string | null
  content_expired_at: Instant | null
}

export interface RunOwnershipTable extends OfRun {
  kind: RunKind
  admitted_at: Instant
  start_before: Instant
  engine: string | null
  worker: string | null
  fence: ColumnType<string, never, never>
  lease_until: Instant | null
  renewed_at: Instant | null
  last_seq: number
  cancel_asked: boolean
  last_update: number
  source_run_id: string | null
  successor_run_id: string | null
  first_run_id: string | null
}

export interface RunEventsTable extends OfRun {
  seq: number
  at: Instant
  offset_ms: number | null
  kind: string
  fields: JsonColumn<JsonObject>
}

export type StoredEffectState = 'intended' | 'sending' | 'succeeded' | 'failed' | 'uncertain'

export interface RunEffectsTable extends OfRun {
  effect_id: string
  effect_key: string
  place: GeneratedAlways<string>
  attempt_id: string | null
  action_id: string
  action_version: number
  effect_kind: string
  idempotent: boolean
  node_id: string | null
  ordinal: number | null
  state: Generated<StoredEffectState>
  decision: JsonColumn<JsonObject | null>
  send_attempts: Generated<number>
  receipts: JsonColumn<readonly JsonObject[]>
  error_code: string | null
  created_at: Generated<Instant>
  settled_at: Instant | null
  /** Of inference. */
  usage: JsonColumn<readonly JsonObject[] | null>
}

export type UpdateStatus = 'acknowledged' | 'applying' | 'applied' | 'rejected' | 'indeterminate'

export interface RunUpdatesTable extends OfRun {
  revision: number
  update_id: Generated<string>
  change: JsonColumn<JsonObject>
  status: UpdateStatus
  acknowledged_at: Generated<Instant>
  deadline: Instant
  completed_at: Instant | null
  reason: string | null
}

export interface RunTranscriptsTable extends OfRun {
  state: 'partial' | 'complete' | 'expired'
  final: boolean
  utterances: JsonColumn<readonly JsonObject[]>
  checkpoint: JsonColumn<JsonObject | null>
  content: JsonColumn<JsonObject | null>
  updated_at: Generated<Instant>
}

export type RecordingState =
  | 'pending'
  | 'recording'
  | 'processing'
  | 'ready'
  | 'partial'
  | 'failed'
  | 'not_required'
  | 'expired'

export interface RunRecordingsTable extends OfRun {
  state: RecordingState
  segments: JsonColumn<readonly JsonObject[]>
  content: JsonColumn<JsonObject | null>
  updated_at: Generated<Instant>
  begun_at: Generated<Instant>
  expected: number | null
  spooled_until: Instant | null
  arrivals: Generated<number>
  joined: Generated<number>
  join_fence: Generated<string>
  join_until: Instant | null
  blobs_expired: Generated<boolean>
}

export interface UsageMeasurementsTable extends OfRun {
  measurement_id: Generated<string>
  meter: Meter
  provider: string | null
  model_id: string | null
  quantity: string
  measured_at: Generated<Instant>
}

export interface OutboxTable extends OfRun {
  outbox_id: GeneratedAlways<string>
  event_id: Generated<string>
  event: string
  payload: JsonColumn<JsonObject | null>
  occurred_at: Generated<Instant>
  attempts: Generated<number>
  next_at: Generated<Instant>
  lease_until: Instant | null
  settled_at: Instant | null
  delivered: boolean | null
}
