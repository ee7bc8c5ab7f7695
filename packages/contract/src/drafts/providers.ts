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

const languageModelProvider = z
  .strictObject({
    model: modelIdentity,
    provider: modelHosting,
    credential: modelCredential.optional(),
    endpoint: uri().optional(),
  })
  .meta({ id: 'LanguageModelProvider' })

/** The services with which an agent hears, thinks and speaks. */
export const providers = z
  .strictObject({ stt: speechProvider, llm: languageModelProvider, tts: speechProvider })
  .meta({ id: 'Providers' })

/** Some of a speech provider's fields; null removes an optional one. */
export const speechProviderChanges = z.strictObject({
  provider: text(1, 256).optional(),
  model: text(1, 256).optional(),
  credential: secretRef.nullable().optional(),
  endpoint: uri().nullable().optional(),
  voiceId: text(1, 256).nullable().optional(),
})

/** Some of the language model's fields; null removes an optional one. */
export const languageModelChanges = z.strictObject({
  model: modelIdentity.optional(),
  provider: modelHosting.optional(),
  credential: modelCredential.nullable().optional(),
  endpoint: uri().nullable().optional(),
})
