import { z } from 'zod'
import { text } from '../values/text.ts'

/** What the agent says: words that the model generates by a `prompt`, or a `static_text` word for word. */
export const instruction = z
  .strictObject({ type: z.enum(['prompt', 'static_text']), text: text(0, 32_768) })
  .meta({ id: 'Instruction' })

export type Instruction = z.output<typeof instruction>
