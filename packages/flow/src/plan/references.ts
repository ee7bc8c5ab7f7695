import type { providers } from '@parley/contract'
import type { z } from 'zod'

/** The services of an agent: speech to text, language model, text to speech. */
export type Providers = z.output<typeof providers>
