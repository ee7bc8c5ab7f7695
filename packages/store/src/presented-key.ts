/** The key that a request named by its secret. */
export interface PresentedKey {
  readonly key_id: string
  /** SHA-256 of the secret. */
  readonly secret_hash: Buffer
}
