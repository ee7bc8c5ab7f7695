/** A parsed request to an example service. */
export interface ServiceRequest {
  readonly method: string
  /** Below the service: `/days`. */
  readonly path: string
  readonly query: URLSearchParams
  /** The body, byte for byte. */
  readonly content: string
  /** Members of a JSON body; none without one. */
  readonly body: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | null
  /** The `Parley-Signature` header. */
  readonly signature: string | null
}

/** A JSON answer. `message` can be spoken as it is, in the service's language. */
export interface ServiceAnswer {
  readonly status: number
  readonly body: { readonly message: string; readonly [member: string]: unknown }
}

/** One operation of a service. */
type Operation = (request: ServiceRequest) => ServiceAnswer

/** Operations by `METHOD /path`. */
type Operations = Readonly<Record<string, Operation>>

/** Messages of a service for failed requests, in its language. */
interface Refusals {
  readonly unknown: string
  readonly unreadable: string
  readonly tooLarge: string
  readonly broken: string
}

export interface Service {
  readonly operations: Operations
  readonly refusals: Refusals
}

const MAX_TEXT = 200

/** A member of a body or query as text: trimmed, at most 200 characters; empty for what is neither text nor a number. */
export function textOf(value: unknown): string {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT) : ''
}
