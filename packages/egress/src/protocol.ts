import type { Ms } from '@parley/kernel'

/** One outbound HTTP request of an agent. */
export interface EgressRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** http or https. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** With true, 301 and 302 keep method and body of a POST instead of changing it to GET, and 303 is returned as the answer. Default false. */
  readonly keepsBody?: boolean
  /** Limit for resolving, connecting, sending and the whole answer, including redirects. */
  readonly timeoutMs: Ms
}

/** Nothing was sent: the address or the URL is not allowed. */
export interface EgressRefused {
  readonly type: 'refused'
  readonly reason: 'address_not_allowed' | 'bad_url'
  readonly durationMs: Ms
}

/** Nothing was sent: unknown name, connection refused, untrusted certificate, or an abort or timeout before the connection. */
export interface EgressNotConnected {
  readonly type: 'not_connected'
  /** Text for people, except for the fixed values `timeout` and `aborted`. */
  readonly reason: string
  readonly durationMs: Ms
}

/**
 * The outcome of a request; errors are never thrown. `no_answer`: the request was sent, at least in part, and the server may have
 * acted; its reason is text for people, except for the fixed values `timeout` and `aborted`.
 */
export type EgressResult =
  | {
      readonly type: 'answered'
      readonly status: number
      /** Names in lower case; several of one name are joined by ", ". */
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
      /** The answer was longer than allowed, and was truncated. */
      readonly truncated: boolean
      readonly durationMs: Ms
    }
  | EgressNotConnected
  | { readonly type: 'no_answer'; readonly reason: string; readonly durationMs: Ms }
  | EgressRefused

/** A request to an allowed address; `timeoutMs` counts from its preparation. */
export interface PreparedRequest {
  readonly type: 'prepared'
  /** Call once. Sends the request to an address that was checked during preparation, even if the name resolves differently now. */
  send(signal: AbortSignal): Promise<EgressResult>
}

/** All HTTP requests of agents go through this interface. */
export interface Egress {
  /** Resolves the name and checks the addresses, so that the decision can be stored before anything is sent. */
  prepare(request: EgressRequest, signal: AbortSignal): Promise<PreparedRequest | EgressRefused | EgressNotConnected>
  /** Prepares and sends. */
  send(request: EgressRequest, signal: AbortSignal): Promise<EgressResult>
  close(): Promise<void>
}
