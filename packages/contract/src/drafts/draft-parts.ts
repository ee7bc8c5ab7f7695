import { actionId, e164, modelRef, secretRef, text, uri, variableName } from '@parley/nodes'
import { z } from 'zod'
import { analysisItem } from './analysis-item.ts'

/** The trunk for outbound calls of the agent, and the caller number. */
export const telephony = z.strictObject({ trunkId: text(1, 256), from: e164.optional() }).meta({ id: 'Telephony' })

/** Recording of calls. If `required`, a call that cannot be recorded is not connected. */
export const recording = z
  .strictObject({
    required: z.boolean(),
    channels: z.literal('dual'),
    /** False: the link to the recording's player page needs no signature. */
    signed_urls: z.boolean().default(true),
  })
  .meta({ id: 'AgentRecording' })

export const webhookEvent = z.enum(['run.started', 'run.transfer', 'run.ended', 'run.analyzed'])

/**
 * The signed webhook of an agent. `http` URLs are accepted only for hosts that the operator has allowed; the edit
 * checks it.
 */
export const notification = z
  .strictObject({
    url: uri(2048, ['https', 'http']),
    /** A secret of kind webhook_signing. */
    secret: secretRef,
    events: z
      .array(webhookEvent)
      .min(1)
      .max(4)
      .refine(list => new Set(list).size === list.length, 'an event is listed twice; remove one')
      .meta({ uniqueItems: true })
      .default(webhookEvent.options),
  })
  .meta({ id: 'Notification' })

/** The action that runs before an inbound call is answered, and the variables that it may set. */
export const inboundContext = z
  .strictObject({ action_id: actionId, variables: z.array(variableName).max(100) })
  .meta({ id: 'InboundContext' })

export const agentKnowledge = z
  .strictObject({
    /** Null: all documents of the environment. */
    document_ids: z.array(text(1, 256)).min(1).max(100).nullable(),
    top_k: z.int().min(1).max(20).default(3),
    min_score: z.number().min(0).max(1).default(0),
  })
  .meta({ id: 'AgentKnowledge' })

/** The post-call analysis of a run. */
export const analysis = z
  .strictObject({ items: z.array(analysisItem).max(50), model: modelRef.nullable() })
  .meta({ id: 'Analysis' })
