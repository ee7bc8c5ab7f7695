import type { analysisItem } from '@parley/contract'
import type { z } from 'zod'

/** A value that is extracted after a run: a variable with type and description for the model, or a preset. */
export type AnalysisItem = z.output<typeof analysisItem>
