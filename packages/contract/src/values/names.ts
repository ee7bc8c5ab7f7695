import { identifier, text } from '@parley/nodes'
import { z } from 'zod'

/**
 * A UUID of any version in the text form of RFC 9562: an unknown id is 404, not 400. The value is normalised to
 * lower case, in which ids are stored, compared and returned.
 */
export const uuid = z.guid('an id: 32 hexadecimal digits as 8-4-4-4-12').toLowerCase()

export const agentId = identifier(256)

/** The id of a new agent. */
export const newAgentId = text(1, 256).regex(
  /^[a-z0-9][a-z0-9_.:-]*$/,
  'a lower-case letter or digit, then lower-case letters, digits, _ . : -',
)

export const secretId = identifier(128)

export const trunkId = text(1, 128).regex(
  /^[a-z0-9][a-z0-9_-]*$/,
  'a lower-case letter or digit, then lower-case letters, digits, _ -',
)

const MAX_INT32 = 2_147_483_647

/** The number of a publication, from 0. */
export const version = z.int().min(0).max(MAX_INT32)

/** The compare-and-set token of a draft, from 1. */
export const revision = z.int().min(1).max(MAX_INT32)

/** `sha256:` and 64 lower-case hex digits. */
export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'sha256: and 64 lower-case hex digits')

export const channel = z.enum(['cloud', 'phone'])
export const language = z.enum(['en', 'es'])
export const role = z.enum(['viewer', 'member', 'admin'])
export const environmentName = z.enum(['production', 'sandbox'])

export type Role = z.output<typeof role>
