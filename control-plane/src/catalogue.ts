import type { model, voice } from '@parley/contract'
import type { z } from 'zod'

export type CatalogueModel = z.output<typeof model>
export type CatalogueVoice = z.output<typeof voice>

/** What agents can think, hear and speak with; in the order in which the first ready one is chosen. */
export interface Catalogue {
  readonly models: readonly CatalogueModel[]
  readonly voices: readonly CatalogueVoice[]
}
