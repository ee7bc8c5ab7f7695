import { z } from 'zod'
import { text } from './names.ts'

/** What the agent says: generated from `prompt`, or `static_text` word for word. Both may hold `{{variables}}`. */
export const instruction = z.strictObject({ type: z.enum(['prompt', 'static_text']), text: text(0, 32768) })

export type Instruction = z.output<typeof instruction>
