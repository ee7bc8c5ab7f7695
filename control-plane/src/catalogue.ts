import type { model, voice } from '@parley/contract'
import type { z } from 'zod'

export type CatalogueModel = z.output<typeof model>
export type CatalogueVoice = z.output<typeof voice>

/** The language models, recognisers and voices of the platform, in order of preference: a new agent gets the first that is ready. */
export interface Catalogue {
  readonly models: readonly CatalogueModel[]
  readonly voices: readonly CatalogueVoice[]
}
