import type { modelHosting, secretKind, voice } from '@parley/contract'
import type { ModelIdentity } from '@parley/nodes'
import type { z } from 'zod'

/** The resources of an environment that drafts refer to. */
export interface DraftEnvironment {
  /** Language, speech-to-speech and embedding models; fixes offer the first ready chat model. */
  readonly models: readonly {
    readonly identity: ModelIdentity
    readonly kind: 'chat' | 'embedding' | 'realtime'
    readonly provider: z.output<typeof modelHosting>
    readonly ready: boolean
  }[]
  /** Voices (`tts`) and recognisers (`stt`, `voice_id` null). `languages`: primary tags. */
  readonly voices: readonly (Pick<z.output<typeof voice>, 'role' | 'provider' | 'model' | 'voice_id' | 'ready'> & {
    readonly languages: readonly string[]
  })[]
  readonly trunks: readonly { readonly trunk_id: string; readonly inbound: boolean }[]
  readonly numbers: readonly { readonly phone_number: string; readonly trunk_id: string }[]
  /** `versions`: all that exist, as decimal digits. */
  readonly secrets: readonly {
    readonly secret_id: string
    readonly kind: z.output<typeof secretKind>
    readonly versions: readonly string[]
  }[]
  /** Whether documents can be searched. */
  readonly knowledge_ready: boolean
  readonly document_ids: readonly string[]
}
