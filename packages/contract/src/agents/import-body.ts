import { jsonObject, modelRef, text, uri } from '@parley/nodes'
import { z } from 'zod'
import { telephony } from '../drafts/draft-parts.ts'
import { providers } from '../drafts/providers.ts'
import { version } from '../values/names.ts'

/** `secretRef` is `id` or `id@version` of a secret; without a version the current one is pinned. */
const webhook = z.strictObject({ url: uri(), secretRef: text(1, 256) })

const exported = {
  providers,
  telephony: telephony.optional(),
  recording: z.strictObject({ required: z.boolean(), channels: z.literal('dual') }),
  webhook: webhook.optional(),
}

/** The providers, telephony, recording and webhook of an export. */
export const exportConfig = z.strictObject(exported).meta({ id: 'ExportConfig' })

/** The same for an import; only agents that require recording can be imported. */
export const importConfig = z
  .strictObject({ ...exported, recording: exported.recording.extend({ required: z.literal(true) }) })
  .meta({ id: 'ImportConfig' })

/** The model to use at each diagnostic path, such as `/flow/model_choice`. */
export const modelBindings = z.record(text(0, 1024), modelRef)

/** An agent in the source format: its version, its flow and its other settings. */
export const exportedAgent = {
  agent_version: version,
  flow: jsonObject,
  agent: jsonObject,
}
