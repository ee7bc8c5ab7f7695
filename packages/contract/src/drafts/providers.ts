import { modelCredential, modelIdentity, secretRef, text, uri } from '@parley/nodes'
import { z } from 'zod'
import { modelHosting } from '../values/references.ts'

const speechProvider = z
  .strictObject({
    provider: text(1, 256),
    model: text(1, 256),
    credential: secretRef.optional(),
    endpoint: uri().optional(),
    voiceId: text(1, 256).optional(),
  })
  .meta({ id: 'SpeechProvider' })

/** Recognisers that replace a failed one during a call, in this order. One that is not ready is skipped. */
const recogniserFallbacks = z
  .array(z.strictObject({ provider: text(1, 256), model: text(1, 256) }).meta({ id: 'RecogniserIdentity' }))
  .max(3)
/** Models that are asked when the agent's model fails or is late, in this order. One that is not ready is skipped. */
const modelFallbacks = z.array(modelIdentity).max(3)

const recogniserProvider = z
  .strictObject({ ...speechProvider.shape, fallbacks: recogniserFallbacks.optional() })
  .meta({ id: 'RecogniserProvider' })

const languageModelProvider = z
  .strictObject({
    model: modelIdentity,
    provider: modelHosting,
    credential: modelCredential.optional(),
    endpoint: uri().optional(),
    fallbacks: modelFallbacks.optional(),
  })
  .meta({ id: 'LanguageModelProvider' })

/** The speech recogniser, the language model and the voice of an agent. */
export const providers = z
  .strictObject({ stt: recogniserProvider, llm: languageModelProvider, tts: speechProvider })
  .meta({ id: 'Providers' })

/** Changes to fields of a speech provider; null removes an optional field. */
export const speechProviderChanges = z.strictObject({
  provider: text(1, 256).optional(),
  model: text(1, 256).optional(),
  credential: secretRef.nullable().optional(),
  endpoint: uri().nullable().optional(),
  voiceId: text(1, 256).nullable().optional(),
})

/** Changes to fields of the recogniser; null removes an optional field. */
export const recogniserProviderChanges = z.strictObject({
  ...speechProviderChanges.shape,
  fallbacks: recogniserFallbacks.nullable().optional(),
})

/** Changes to fields of the language model; null removes an optional field. */
export const languageModelChanges = z.strictObject({
  model: modelIdentity.optional(),
  provider: modelHosting.optional(),
  credential: modelCredential.nullable().optional(),
  endpoint: uri().nullable().optional(),
  fallbacks: modelFallbacks.nullable().optional(),
})
