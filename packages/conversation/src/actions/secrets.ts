import type { SecretRef } from '@parley/flow'

/** Where actions find the secrets that their authentication pins. */
export interface Secrets {
  /** The value of exactly that version; null: there is none (any more). May throw: then nothing is sent. */
  get(ref: SecretRef): Promise<string | null>
}
