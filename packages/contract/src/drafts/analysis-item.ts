import { z } from 'zod'
import { variableName } from '../values/names.ts'
import { text } from '../values/text.ts'

const described = {
  name: variableName,
  description: text(1, 1024),
  examples: z.array(text(0, 1024)).max(20).optional(),
  required: z.boolean().default(false),
}

/** What is read out of a conversation: a variable with its type and its description for the model. */
export const variableItem = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('string'), ...described }),
    z.strictObject({ type: z.literal('enum'), ...described, choices: z.array(text(1, 256)).min(1).max(50) }),
    z.strictObject({ type: z.literal('boolean'), ...described }),
    z.strictObject({ type: z.literal('number'), ...described }),
  ])
  .meta({ id: 'VariableItem' })

/** A variable, or one of the findings that the platform defines. */
export const analysisItem = z
  .discriminatedUnion('type', [
    variableItem,
    z.strictObject({
      type: z.literal('system-presets'),
      name: z.enum(['call_summary', 'call_successful', 'user_sentiment']),
    }),
  ])
  .meta({ id: 'AnalysisItem' })
