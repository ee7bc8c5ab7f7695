import { z } from 'zod'
import { action } from './action.ts'
import { analysisItem } from './analysis-item.ts'
import { flow } from './flow.ts'
import { identifier, text, variableName } from './names.ts'
import { modelRef, providers, secretRef } from './references.ts'
import { settings } from './settings.ts'

export const PLAN_SCHEMA_VERSION = 1

const telephony = z.strictObject({
  trunkId: z.string().min(1).max(256),
  from: z
    .string()
    .regex(/^\+[1-9][0-9]{6,14}$/, 'E.164: + and 7 to 15 digits')
    .nullable()
    .default(null),
})

const recording = z.strictObject({
  required: z.boolean(),
  channels: z.literal('dual').default('dual'),
  signed_urls: z.boolean().default(true),
})

const webhookEvent = z.enum(['run.started', 'run.transfer', 'run.ended', 'run.analyzed'])

const notification = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2048),
  secret: secretRef,
  events: z.array(webhookEvent).min(1).max(4).default(webhookEvent.options),
})

const inboundContext = z.strictObject({
  action_id: identifier(128),
  variables: z.array(variableName).max(100),
})

const knowledge = z.strictObject({
  document_ids: z.array(z.string().min(1).max(256)).min(1).max(100).nullable(),
  top_k: z.int().min(1).max(20).default(3),
  min_score: z.number().min(0).max(1).default(0),
})

const analysis = z.strictObject({ items: z.array(analysisItem).max(50), model: modelRef.nullable() })

const agent = {
  name: text(1, 256),
  settings: settings.prefault({}),
  providers,
  telephony: telephony.nullable().default(null),
  recording: recording.prefault({ required: false }),
  notification: notification.nullable().default(null),
  inbound_context: inboundContext.nullable().default(null),
  knowledge: knowledge.nullable().default(null),
  analysis: analysis.nullable().default(null),
  actions: z.array(action).max(100).default([]),
  flow: flow.prefault({}),
}

const source = z.strictObject({
  kind: z.literal('agent_import'),
  agent_version: z.int().min(0),
  flow_id: z.string().max(256).nullable(),
  flow_version: z.int().min(0).nullable(),
  unplaced: z.record(z.string(), z.json()),
})

/** A draft from `name` on, as a person or an import wrote it; parsing fills every default in. */
export const draftSchema = z.strictObject({ ...agent, source: source.nullable().default(null) })

/** What an engine runs: a draft without its source, every default filled in. Parsing a serialised plan gives an equal one. */
export const planSchema = z.strictObject({ plan_schema_version: z.literal(PLAN_SCHEMA_VERSION), ...agent })

/** A draft as written. */
export type Draft = z.input<typeof draftSchema>
/** A draft with its defaults. */
export type ParsedDraft = z.output<typeof draftSchema>
export type Plan = z.output<typeof planSchema>
