import type { instruction } from '@parley/contract'
import type { z } from 'zod'

/** What the agent says: generated from `prompt`, or `static_text` word for word. Both may hold `{{variables}}`. */
export type Instruction = z.output<typeof instruction>
