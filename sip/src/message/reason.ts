/** One value of a Reason header (RFC 3326). */
export interface ReasonValue {
  /** "SIP", "Q.850", … as written. */
  readonly protocol: string
  readonly cause: number | undefined
  readonly text: string | undefined
}

/** All readable values of one Reason line. */
export function parseReason(_value: string): ReasonValue[] {
  throw new Error('being written')
}

export function serialiseReason(_reason: { protocol: string; cause?: number; text?: string }): string {
  throw new Error('being written')
}
