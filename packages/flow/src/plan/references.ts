import { z } from 'zod'

const notBlank = z.string().min(1).max(256).regex(/\S/, 'must not be blank')

export const modelIdentity = z.strictObject({
  model_id: notBlank,
  provider: notBlank,
  tier: z.enum(['frontier', 'platform-served', 'customer-gpu']),
})

/** A pinned secret: `{id, version}`. */
export const secretRef = z.strictObject({ id: z.string().min(1).max(256), version: z.string().min(1).max(256) })

const modelCredential = secretRef.extend({ provider: z.string().min(1).max(256) })

/** `{model, credential?}`. */
export const modelRef = z.strictObject({ model: modelIdentity, credential: modelCredential.optional() })

const speechProvider = z.strictObject({
  provider: z.string().min(1).max(256),
  model: z.string().min(1).max(256),
  credential: secretRef.optional(),
  endpoint: z.url().max(2048).optional(),
  voiceId: z.string().min(1).max(256).optional(),
})

/** The services an agent speaks, hears and thinks with. */
export const providers = z.strictObject({
  stt: speechProvider,
  llm: z.strictObject({
    model: modelIdentity,
    provider: z.enum(['hosted', 'simulated_hosted', 'self_hosted', 'simulated_self_hosted']),
    credential: modelCredential.optional(),
    endpoint: z.url().max(2048).optional(),
  }),
  tts: speechProvider,
})

export type ModelIdentity = z.output<typeof modelIdentity>
export type ModelRef = z.output<typeof modelRef>
export type SecretRef = z.output<typeof secretRef>
export type Providers = z.output<typeof providers>
