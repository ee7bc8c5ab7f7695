import { text } from '@parley/nodes'
import { z } from 'zod'
import { runState } from '../agents/agent-summary.ts'
import { timestamp } from '../values/time.ts'
import { answeredBy, contact, phoneState } from './run.ts'

const ms = z.number().min(0)
const index = z.int().min(0)
/** `node_id` in the main flow, or `component_id/node_id`. */
const nodePath = text(1, 128)

const latency = z
  .strictObject({
    e2e: ms.nullable(),
    endpointing: ms.nullable(),
    stt: ms.nullable(),
    llm: ms.nullable(),
    tts: ms.nullable(),
    engine: ms.nullable(),
  })
  .meta({ id: 'TurnLatency' })

const facts = [
  z.strictObject({ kind: z.literal('state'), state: runState, phone_state: phoneState.nullable() }),
  z.strictObject({
    kind: z.literal('utterance'),
    index,
    role: z.enum(['agent', 'user']),
    text: text(0),
    interrupted: z.boolean(),
    start_ms: ms.nullable(),
    end_ms: ms.nullable(),
    node_id: nodePath.nullable(),
  }),
  /** `index` is that of the agent's utterance. */
  z.strictObject({ kind: z.literal('turn'), index, latency }),
  z.strictObject({
    kind: z.literal('node'),
    node_id: nodePath,
    from_node_id: nodePath.nullable(),
    edge_id: text(1, 64).nullable(),
    cause: z.enum(['start', 'edge', 'global', 'else', 'failure', 'return']),
  }),
  z.strictObject({
    kind: z.literal('action'),
    action_id: text(1, 128),
    effect_id: z.guid(),
    phase: z.enum(['started', 'succeeded', 'failed', 'uncertain']),
    node_id: nodePath.nullable(),
    duration_ms: ms.nullable(),
  }),
  z.strictObject({ kind: z.literal('digits'), direction: z.enum(['in', 'out']), digits: text(0) }),
  z.strictObject({ kind: z.literal('hold'), held: z.boolean() }),
  z.strictObject({ kind: z.literal('interruption'), index: index.nullable(), resumed: z.boolean() }),
  z.strictObject({
    kind: z.literal('variables'),
    source: z.enum(['inbound_context', 'extract', 'action', 'update']),
    set: z.array(text(0)),
    ignored: z.array(text(0)),
  }),
  z.strictObject({
    kind: z.literal('update'),
    update_id: z.guid(),
    status: z.enum(['acknowledged', 'applying', 'applied', 'rejected', 'indeterminate']),
  }),
  z.strictObject({
    kind: z.literal('contact'),
    contact,
    detected: z.enum(['human', 'voicemail', 'ivr', 'screener', 'unknown']),
    class: answeredBy.nullable(),
    confidence: z.number().min(0).max(1).nullable(),
    evidence: z.array(text(0, 256)).max(20),
  }),
  z.strictObject({ kind: z.literal('error'), code: text(1), message: text(0) }),
  /** Passages of documents that the model got for its answer, the most relevant first. */
  z.strictObject({
    kind: z.literal('knowledge'),
    node_id: nodePath.nullable(),
    generation_id: z.guid(),
    items: z.array(
      z.strictObject({
        document_id: z.guid(),
        title: text(1, 256),
        chunk_index: index,
        score: z.number().min(0).max(1),
      }),
    ),
    /** How long the search took, and how long the answer waited for it; searches run while the caller speaks. */
    search_ms: ms,
    waited_ms: ms,
  }),
  /** A bound was exceeded: how long the caller waited, and for what. */
  z.strictObject({
    kind: z.literal('silence'),
    stage: z.enum(['recogniser', 'model', 'action', 'voice', 'network', 'endpointing']),
    duration_ms: ms,
  }),
  /** The conversation goes on in another language, because the caller asked for it, spoke it, or the recogniser detected it. */
  z.strictObject({
    kind: z.literal('language'),
    language: z.enum(['en', 'es']),
    from: z.enum(['en', 'es']),
    cause: z.enum(['requested', 'words', 'recogniser']),
  }),
] as const

const place = {
  /** From 1, without gaps. */
  seq: z.int().min(1),
  at: timestamp,
  /** Ms on the clock of the call; null before media starts. */
  offset_ms: ms.nullable(),
}

/** One event of a run. Clients must ignore unknown kinds. */
export const timelineItem = z
  .discriminatedUnion('kind', [
    facts[0].extend(place),
    facts[1].extend(place),
    facts[2].extend(place),
    facts[3].extend(place),
    facts[4].extend(place),
    facts[5].extend(place),
    facts[6].extend(place),
    facts[7].extend(place),
    facts[8].extend(place),
    facts[9].extend(place),
    facts[10].extend(place),
    facts[11].extend(place),
    facts[12].extend(place),
    facts[13].extend(place),
    facts[14].extend(place),
  ])
  .meta({ id: 'TimelineItem' })
