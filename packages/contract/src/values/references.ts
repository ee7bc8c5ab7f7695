import { z } from 'zod'
import { agentId, digest, uuid, version } from './names.ts'
import { notBlank, text } from './text.ts'

/** Which environment of which organisation: `owner_id` is the organisation, `tenant_id` the environment. */
export const scope = z.strictObject({ owner_id: text(1), environment: text(1), tenant_id: uuid }).meta({ id: 'Scope' })

export const agentReference = z
  .strictObject({ tenant_id: uuid, kind: z.literal('agent'), id: agentId })
  .meta({ id: 'AgentReference' })

export const publicationRef = z.strictObject({ agent_id: agentId, version, digest }).meta({ id: 'PublicationRef' })

const principal = { owner_id: text(1), environment: text(1) }

/** Who did it: a person, an API key, or the platform itself. */
export const principalRef = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...principal, kind: z.literal('user'), id: uuid }),
    z.strictObject({ ...principal, kind: z.literal('api_key'), id: uuid }),
    z.strictObject({ ...principal, kind: z.literal('system'), id: text(1, 256) }),
  ])
  .meta({ id: 'PrincipalRef' })

export const modelIdentity = z
  .strictObject({
    model_id: notBlank,
    provider: notBlank,
    tier: z.enum(['frontier', 'platform-served', 'customer-gpu']),
  })
  .meta({ id: 'ModelIdentity' })

/** A pinned secret: `{id, version}`. */
export const secretRef = z.strictObject({ id: text(1, 256), version: text(1, 256) }).meta({ id: 'SecretRef' })

/** The key with which a model's provider is asked. */
export const modelCredential = z
  .strictObject({ id: text(1, 256), version: text(1, 256), provider: text(1, 256) })
  .meta({ id: 'ModelCredential' })

/** `{model, credential?}`. */
export const modelRef = z
  .strictObject({ model: modelIdentity, credential: modelCredential.optional() })
  .meta({ id: 'ModelRef' })

/** Where a model runs. */
export const modelHosting = z.enum(['hosted', 'simulated_hosted', 'self_hosted', 'simulated_self_hosted'])

export type Scope = z.output<typeof scope>
export type ModelIdentity = z.output<typeof modelIdentity>
export type PrincipalRef = z.output<typeof principalRef>
