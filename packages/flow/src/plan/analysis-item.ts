import type { analysisItem } from '@parley/contract'
import type { z } from 'zod'

/** What is read out of a run after its end: a variable with its type and its description for the model, or a preset. */
export type AnalysisItem = z.output<typeof analysisItem>
