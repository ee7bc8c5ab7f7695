import type { modelRef, providers, secretRef } from '@parley/contract'
import type { z } from 'zod'

/** `{model, credential?}`. */
export type ModelRef = z.output<typeof modelRef>
export type ModelIdentity = ModelRef['model']
/** A pinned secret: `{id, version}`. */
export type SecretRef = z.output<typeof secretRef>
/** The services an agent speaks, hears and thinks with. */
export type Providers = z.output<typeof providers>
