import { jsonObject, modelIdentity, stringMap, text, variableName, variableValue } from '@parley/nodes'
import { z } from 'zod'
import { runState } from '../agents/agent-summary.ts'
import { agentId, uuid } from '../values/names.ts'
import { publicationRef } from '../values/references.ts'
import { timestamp } from '../values/time.ts'

export const runChannel = z.enum(['cloud', 'phone', 'web'])
export const runMode = z.enum(['task', 'chat', 'background', 'outbound', 'inbound'])

export const phoneState = z.enum([
  'admitted',
  'preparing',
  'awaiting_sip',
  'dialing',
  'ringing',
  'active',
  'terminating',
  'ended',
  'rejected',
  'expired',
  'setup_failed',
])

/** What answered the call, as far as it was detected. */
export const contact = z.enum(['human', 'voicemail', 'ivr', 'unknown', 'not_applicable'])

/** The class of `contact`, finer. */
export const answeredBy = z.enum([
  'human',
  'voicemail',
  'mailbox_unavailable',
  'ivr',
  'screener',
  'fax',
  'announcement',
  'silence',
])

const runOutcome = z
  .strictObject({
    kind: z.enum([
      'completed',
      'no_answer',
      'busy',
      'voicemail',
      'transferred',
      'caller_hung_up',
      'agent_hung_up',
      'silence',
      'max_duration',
      'error',
      'cancelled',
    ]),
    detail: text(0).nullable(),
    sip_status: z.int().min(100).max(699).nullable(),
    /** `caller` and `callee`: the far end of an inbound and of an outbound call. */
    ended_by: z.enum(['caller', 'callee', 'agent', 'system', 'operator']),
  })
  .meta({ id: 'RunOutcome' })

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 lower-case hex digits')
const triggerId = text(1, 128)

/** The cause of the run. */
const runTrigger = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('sip'), number_id: uuid, call_id_sha256: sha256 }),
    z.strictObject({ kind: z.literal('api'), idempotency_key_sha256: sha256 }),
    z.strictObject({ kind: z.literal('site_key'), site_key_id: uuid }),
    z.strictObject({ kind: z.literal('schedule'), trigger_id: triggerId, scheduled_for: timestamp }),
    z.strictObject({ kind: z.literal('event'), trigger_id: triggerId, source_event_id: uuid }),
    z.strictObject({ kind: z.literal('callback'), source_run_id: uuid, effect_id: uuid }),
    z.strictObject({ kind: z.literal('evaluation'), comparison_id: uuid }),
    z.strictObject({
      kind: z.literal('test'),
      test_run_id: uuid,
      suite_id: uuid,
      case_id: text(1, 64),
      trial_id: uuid,
      trial: z.int().min(1),
    }),
  ])
  .meta({ id: 'RunTrigger' })

const ms = z.number().min(0)
const percentiles = z.strictObject({ p50: ms, p90: ms, p95: ms }).meta({ id: 'Percentiles' }).nullable()

/** Latency of the agent's replies in ms; null: not measured. */
const runLatency = z
  .strictObject({
    e2e: percentiles,
    endpointing: percentiles,
    stt: percentiles,
    llm: percentiles,
    tts: percentiles,
    engine: percentiles,
  })
  .meta({ id: 'RunLatency' })

/** The result of the post-call analysis. */
const runAnalysis = z
  .strictObject({
    summary: text(0).nullable(),
    sentiment: z.enum(['positive', 'neutral', 'negative', 'unknown']).nullable(),
    successful: z.boolean().nullable(),
    /** By name of the analysis item; null: not found. */
    custom: z.record(z.string(), z.union([text(0), z.number(), z.boolean(), z.null()])),
    model: modelIdentity,
    completed_at: timestamp,
  })
  .meta({ id: 'RunAnalysis' })

/** The carrier's verification of the caller's number (STIR/SHAKEN). */
const callerIdentity = z
  .strictObject({
    verification: z.enum(['passed', 'failed', 'none']),
    attestation: z.enum(['A', 'B', 'C']).nullable(),
    origid: text(0, 128).nullable(),
  })
  .meta({ id: 'CallerIdentity' })

const share = z.number().min(0).max(1)
const mos = z.number().min(1).max(5)
/** Two hours of 10 s each. */
const MAX_INTERVALS = 720

/** How audio arrived, here and at the far end. Null: not measured. */
const quality = z
  .strictObject({
    jitter_ms: ms,
    jitter_max_ms: ms.nullable(),
    loss: share,
    mos,
    mos_intervals: z.array(mos).max(MAX_INTERVALS),
    round_trip_ms: ms.nullable(),
    far_end: z.strictObject({ loss: share, jitter_ms: ms, jitter_max_ms: ms }).nullable(),
    media_conflicts: z.int().min(0),
  })
  .meta({ id: 'CallQuality' })

const MAX_METADATA_BYTES = 16_384

/** JSON of the API client: stored and returned, never interpreted. */
export const runMetadata = jsonObject.refine(
  value => new TextEncoder().encode(JSON.stringify(value)).length <= MAX_METADATA_BYTES,
  `must have at most ${MAX_METADATA_BYTES} bytes as JSON`,
)

/** Dynamic variables of a run, at most 100. */
export const runVariables = stringMap(variableName, variableValue, 100)

/** One execution of a publication. */
export const run = z
  .strictObject({
    owner_id: text(1),
    environment: text(1),
    tenant_id: uuid,
    run_id: uuid,
    agent_id: agentId,
    publication: publicationRef,
    plan_schema_version: z.int().min(1),
    channel: runChannel,
    mode: runMode,
    state: runState,
    phone_state: phoneState.nullable(),
    outcome: runOutcome.nullable(),
    disposition: text(0).nullable(),
    trigger: runTrigger,
    created_at: timestamp,
    started_at: timestamp.nullable(),
    ended_at: timestamp.nullable(),
    connected_ms: z.int().min(0).nullable(),
    from_number: text(1, 256).nullable(),
    to_number: text(1, 256).nullable(),
    contact: contact.nullable(),
    /** What answered the call, finer than `contact`; null: not known, or not a call. */
    answered_by: answeredBy.nullable(),
    successful: z.boolean().nullable(),
    dynamic_variables: z.record(z.string(), text(0)),
    metadata: jsonObject.nullable(),
    latency: runLatency.nullable(),
    analysis: runAnalysis.nullable(),
    test: z.boolean(),
    caller_identity: callerIdentity.nullable(),
    quality: quality.nullable(),
  })
  .meta({ id: 'Run' })
