import { variableItem } from '@parley/nodes'
import { z } from 'zod'

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
