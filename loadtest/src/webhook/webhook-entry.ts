import type { Ms, UnixMs } from '@parley/kernel'

/**
 * Result of checking the signature: `missing` without a `Parley-Signature`, `malformed` when it cannot be read, `invalid` when no
 * value is right under any secret, `expired` when one is, but its time is too far from the receiver's.
 */
export type SignatureVerdict = 'valid' | 'missing' | 'malformed' | 'invalid' | 'expired'

/** One request to a webhook receiver, written when its body is complete, before it is answered: one line of JSON in the file. */
export interface WebhookEntry {
  /** When the body was complete, on a monotonic clock that starts with the receiver. */
  readonly at_ms: Ms
  readonly wall_ms: UnixMs
  readonly method: string
  /** Without query. */
  readonly path: string
  /** As received, names in lower case; those that came more than once joined by ", ". */
  readonly headers: Readonly<Record<string, string>>
  /** The raw body: as text where it is UTF-8, else in base64. */
  readonly body: string
  readonly encoding: 'utf8' | 'base64'
  readonly signature: SignatureVerdict
  /** Which of the receiver's secrets it is right under, counted from 0; null: none. */
  readonly secret: number | null
  /** From the body, null where it does not say. */
  readonly event: string | null
  readonly event_id: string | null
  readonly run_id: string | null
  readonly occurred_at: string | null
  /** What it will be answered: a status, or null: the connection is cut. */
  readonly answer: number | null
}
