import { text } from '@parley/nodes'
import { z } from 'zod'
import { effectKind } from '../catalogue/actions.ts'
import { uuid } from '../values/names.ts'
import { timestamp } from '../values/time.ts'

/** The result of an effect, by kind of effect. */
const receipt = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('http'),
      status: z.int(),
      response_sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, '64 lower-case hex digits')
        .nullable(),
      response_bytes: z.int().min(0),
      duration_ms: z.int(),
      send_attempt: z.int().min(1),
    }),
    z.strictObject({
      kind: z.literal('sip_transfer'),
      refer_status: z.int().nullable(),
      final_sip_status: z.int().nullable(),
      disconnect_reason: text(0).nullable(),
    }),
    z.strictObject({ kind: z.literal('sip_dial'), participant_id: text(0), sip_call_id: text(0).nullable() }),
    /** The response of the far end to the BYE or CANCEL; null: none came. */
    z.strictObject({ kind: z.literal('sip_hangup'), sip_status: z.int().nullable(), confirmed: z.boolean() }),
    z.strictObject({ kind: z.literal('rtc_room'), resource_id: text(0) }),
    z.strictObject({ kind: z.literal('gateway_inference'), attempt_id: uuid, measurement_id: uuid.nullable() }),
    z.strictObject({ kind: z.literal('transaction'), table: text(0), row_id: text(0) }),
  ])
  .meta({ id: 'EffectReceipt' })

/** A side effect of a run, from the intent to its result. */
export const effectRecord = z
  .strictObject({
    effect_id: uuid,
    run_id: uuid,
    attempt_id: uuid.nullable(),
    effect_key: text(1, 256),
    action: z.strictObject({ id: text(0), version: z.int().min(1) }),
    effect_kind: effectKind,
    node_id: text(1, 128).nullable(),
    ordinal: z.int().min(0).nullable(),
    state: z.enum(['intended', 'sending', 'succeeded', 'failed', 'uncertain']),
    decision: z
      .strictObject({
        decision: z.enum(['allow', 'deny', 'unavailable']),
        reason: text(0).nullable(),
        policy_version: text(0),
      })
      .nullable(),
    send_attempts: z.int().min(0),
    receipts: z.array(receipt),
    error_code: text(0).nullable(),
    created_at: timestamp,
    settled_at: timestamp.nullable(),
  })
  .meta({ id: 'EffectRecord' })
