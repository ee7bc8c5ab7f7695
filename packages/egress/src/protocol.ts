import type { Ms } from '@parley/kernel'

/** One request to the outside on an agent's behalf. */
export interface EgressRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** http or https. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** For connecting, sending and the whole answer, redirects included. */
  readonly timeoutMs: Ms
}

/**
 * What came of it; never an exception. `not_connected`: nothing was sent. `no_answer`: it may have been acted upon.
 * `refused`: the address or the URL is not allowed, nothing was sent.
 */
export type EgressResult =
  | {
      readonly type: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
      /** The answer was longer than allowed, and was cut. */
      readonly truncated: boolean
      readonly durationMs: Ms
    }
  | { readonly type: 'not_connected'; readonly reason: string; readonly durationMs: Ms }
  | { readonly type: 'no_answer'; readonly reason: string; readonly durationMs: Ms }
  | { readonly type: 'refused'; readonly reason: 'address_not_allowed' | 'bad_url'; readonly durationMs: Ms }

/** The one way in which agents reach HTTP servers. */
export interface Egress {
  send(request: EgressRequest, signal: AbortSignal): Promise<EgressResult>
  close(): Promise<void>
}
