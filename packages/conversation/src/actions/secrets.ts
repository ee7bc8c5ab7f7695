import type { SecretRef } from '@parley/flow'

/** The port through which actions read the secrets that their authentication pins. */
export interface Secrets {
  /** The value of exactly this version; null when it does not exist. May reject; then nothing is sent. */
  get(ref: SecretRef): Promise<string | null>
}
