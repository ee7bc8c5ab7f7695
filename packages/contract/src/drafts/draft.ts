import { action, jsonObject, text } from '@parley/nodes'
import { z } from 'zod'
import { revision, uuid, version } from '../values/names.ts'
import { agentReference } from '../values/references.ts'
import { timestamp } from '../values/time.ts'
import { agentKnowledge, analysis, inboundContext, notification, recording, telephony } from './draft-parts.ts'
import { flow } from './flow.ts'
import { providers } from './providers.ts'
import { plannedSettings, settingValues } from './settings.ts'

const draftHead = {
  agent: agentReference,
  draft_id: uuid,
  revision,
  base_version: version.nullable(),
  published_revision: revision.nullable(),
  updated_at: timestamp,
}

/** The identity and revision of a draft: the response to edits, imports and discards. */
export const draftResult = z.strictObject(draftHead).meta({ id: 'DraftResult' })

const content = {
  name: text(1, 256),
  settings: settingValues,
  providers,
  telephony: telephony
    .extend({ from: telephony.shape.from.unwrap().nullable() })
    .meta({ id: 'DraftTelephony' })
    .nullable(),
  recording,
  notification: notification.nullable(),
  inbound_context: inboundContext.nullable(),
  knowledge: agentKnowledge.nullable(),
  analysis: analysis.nullable(),
  actions: z.array(action).max(100),
  flow,
}

/** The origin of an imported draft; `unplaced` holds, by JSON pointer, the parts that were not imported. */
const draftSource = z
  .strictObject({
    kind: z.literal('agent_import'),
    agent_version: version,
    flow_id: text(0).nullable(),
    flow_version: z.int().min(0).nullable(),
    unplaced: jsonObject,
  })
  .meta({ id: 'DraftSource' })

const written = { ...content, source: draftSource.nullable() }

/** The content of a draft, as written: without id and revision. */
export const draftContent = z.strictObject(written).meta({ id: 'DraftContent' })

/** A complete open draft. */
export const draft = z.strictObject({ ...draftHead, ...written }).meta({ id: 'Draft' })

/** The executable form of a publication: the draft with all defaults filled in and all references pinned. */
export const plan = z
  .strictObject({ plan_schema_version: z.literal(1), ...content, settings: plannedSettings })
  .meta({ id: 'Plan' })

export type Plan = z.output<typeof plan>
