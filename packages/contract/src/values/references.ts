import { text } from '@parley/nodes'
import { z } from 'zod'
import { agentId, digest, uuid, version } from './names.ts'

/** Which environment of which organisation: `owner_id` is the organisation, `tenant_id` the environment. */
export const scope = z.strictObject({ owner_id: text(1), environment: text(1), tenant_id: uuid }).meta({ id: 'Scope' })

export const agentReference = z
  .strictObject({ tenant_id: uuid, kind: z.literal('agent'), id: agentId })
  .meta({ id: 'AgentReference' })

export const publicationRef = z.strictObject({ agent_id: agentId, version, digest }).meta({ id: 'PublicationRef' })

const principal = { owner_id: text(1), environment: text(1) }

/** The principal of a change: a user, an API key, the key of a web site or the platform. */
export const principalRef = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...principal, kind: z.literal('user'), id: uuid }),
    z.strictObject({ ...principal, kind: z.literal('api_key'), id: uuid }),
    z.strictObject({ ...principal, kind: z.literal('site_key'), id: uuid }),
    z.strictObject({ ...principal, kind: z.literal('system'), id: text(1, 256) }),
  ])
  .meta({ id: 'PrincipalRef' })

/** Where a model runs. */
export const modelHosting = z.enum(['hosted', 'simulated_hosted', 'self_hosted', 'simulated_self_hosted'])

export type Scope = z.output<typeof scope>
export type PrincipalRef = z.output<typeof principalRef>
