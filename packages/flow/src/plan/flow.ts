import type { component, flow } from '@parley/contract'
import type { z } from 'zod'

export type Component = z.output<typeof component>
export type Flow = z.output<typeof flow>
