import type { Ms } from '@parley/kernel'

/** One request to the outside on an agent's behalf. */
export interface EgressRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** http or https. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A redirection does not make a GET without it: 301 and 302 keep method and body, 303 is the answer. Default false. */
  readonly keepsBody?: boolean
  /** For resolving, connecting, sending and the whole answer, redirects included. */
  readonly timeoutMs: Ms
}

/** Nothing was sent: the address or the URL is not allowed. */
export interface EgressRefused {
  readonly type: 'refused'
  readonly reason: 'address_not_allowed' | 'bad_url'
  readonly durationMs: Ms
}

/** Nothing was sent: no such name, nobody listens, an untrusted certificate, aborted or out of time before that. */
export interface EgressNotConnected {
  readonly type: 'not_connected'
  /** For people; `timeout` and `aborted` are fixed words. */
  readonly reason: string
  readonly durationMs: Ms
}

/**
 * What came of it; never an exception. `no_answer`: it was sent, at least in part, and may have been acted upon; its
 * reason is for people, but `timeout` and `aborted` are fixed words.
 */
export type EgressResult =
  | {
      readonly type: 'answered'
      readonly status: number
      /** Names in lower case; several of one name are joined by ", ". */
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
      /** The answer was longer than allowed, and was cut. */
      readonly truncated: boolean
      readonly durationMs: Ms
    }
  | EgressNotConnected
  | { readonly type: 'no_answer'; readonly reason: string; readonly durationMs: Ms }
  | EgressRefused

/** A request whose address was found allowed; `timeoutMs` runs since it was prepared. */
export interface PreparedRequest {
  readonly type: 'prepared'
  /** Once. Sends it to an address that was judged then, whatever the name resolves to by now. */
  send(signal: AbortSignal): Promise<EgressResult>
}

/** The one way in which agents reach HTTP servers. */
export interface Egress {
  /** Resolves the name and judges the address, so that a verdict can be written down before anything is sent. */
  prepare(request: EgressRequest, signal: AbortSignal): Promise<PreparedRequest | EgressRefused | EgressNotConnected>
  /** Prepares and sends. */
  send(request: EgressRequest, signal: AbortSignal): Promise<EgressResult>
  close(): Promise<void>
}
