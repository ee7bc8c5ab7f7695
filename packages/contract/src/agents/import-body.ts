import { jsonObject, modelRef, text, uri } from '@parley/nodes'
import { z } from 'zod'
import { telephony } from '../drafts/draft-parts.ts'
import { providers } from '../drafts/providers.ts'
import { version } from '../values/names.ts'

/** `secretRef` is a secret's id, or `id@version`; without a version the current one is pinned. */
const webhook = z.strictObject({ url: uri(), secretRef: text(1, 256) })

const exported = {
  providers,
  telephony: telephony.optional(),
  recording: z.strictObject({ required: z.boolean(), channels: z.literal('dual') }),
  webhook: webhook.optional(),
}

/** What an export says of services, telephone, recording and webhook. */
export const exportConfig = z.strictObject(exported).meta({ id: 'ExportConfig' })

/** The same in an import, which takes only agents that require recording. */
export const importConfig = z
  .strictObject({ ...exported, recording: exported.recording.extend({ required: z.literal(true) }) })
  .meta({ id: 'ImportConfig' })

/** By diagnostic path, such as `/flow/model_choice`: the model to use there. */
export const modelBindings = z.record(text(0, 1024), modelRef)

/** What an agent of the source format is exported as: its flow, with id and version, and the rest. */
export const exportedAgent = {
  agent_version: version,
  flow: jsonObject,
  agent: jsonObject,
}
