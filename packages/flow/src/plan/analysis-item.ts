import type { analysisItem, variableItem } from '@parley/contract'
import type { z } from 'zod'

/** What is read out of a conversation: a variable with its type and its description for the model. */
export type VariableItem = z.output<typeof variableItem>
export type AnalysisItem = z.output<typeof analysisItem>
