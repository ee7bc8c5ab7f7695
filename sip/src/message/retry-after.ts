/** RFC 3261 section 20.33. */
export interface RetryAfter {
  readonly seconds: number
  readonly comment: string | undefined
  /** How long the callee will be reachable, seconds. */
  readonly duration: number | undefined
}

export function parseRetryAfter(_value: string): RetryAfter | undefined {
  throw new Error('being written')
}
