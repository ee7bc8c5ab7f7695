import { z } from 'zod'
import { notBlank, text } from './text.ts'

export const modelIdentity = z
  .strictObject({
    model_id: notBlank,
    provider: notBlank,
    tier: z.enum(['frontier', 'platform-served', 'customer-gpu']),
  })
  .meta({ id: 'ModelIdentity' })

/** Reference to one version of a stored secret: `{id, version}`. */
export const secretRef = z.strictObject({ id: text(1, 256), version: text(1, 256) }).meta({ id: 'SecretRef' })

/** Reference to the stored API key for a model's provider. */
export const modelCredential = z
  .strictObject({ id: text(1, 256), version: text(1, 256), provider: text(1, 256) })
  .meta({ id: 'ModelCredential' })

/** `{model, credential?}`. */
export const modelRef = z
  .strictObject({ model: modelIdentity, credential: modelCredential.optional() })
  .meta({ id: 'ModelRef' })

export type ModelRef = z.output<typeof modelRef>
export type ModelIdentity = z.output<typeof modelIdentity>
export type SecretRef = z.output<typeof secretRef>
