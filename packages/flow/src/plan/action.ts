import type { action } from '@parley/contract'
import type { z } from 'zod'

/** What an agent can do besides talking. */
export type Action = z.output<typeof action>
export type HttpAction = Extract<Action, { kind: 'http' }>
