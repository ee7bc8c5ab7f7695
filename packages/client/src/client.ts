import {
  type EventFrom,
  type OperationId,
  type RequestTo,
  type ResultFrom,
  routes,
  type StreamId,
  type StreamRequestTo,
  streamRoutes,
} from './api.ts'
import { Caller, type CallOptions, waitBetween } from './caller.ts'
import { type FollowOptions, follow } from './follow.ts'
import { type AnyRequest, readBaseUrl } from './http-request.ts'
import { rowsOfAllPages } from './pages.ts'

export interface ClientOptions {
  /** `https://host`, without `/api/v1`. */
  readonly baseUrl: string
  /** An API key: `parley_live_…` or `parley_test_…`. Null: none is sent; in a page of the server, its session's cookie authenticates. */
  readonly key: string | null
  /** Default: that of the runtime. */
  readonly fetch?: typeof fetch | undefined
  /** Timeout of one attempt, including its response, in ms. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /** Maximum of retries where that is safe and can succeed. Default 3; 0: none. */
  readonly retries?: number | undefined
  /** Waits between attempts; must reject with the signal's reason if it is aborted. Default: a timer. */
  readonly wait?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined
}

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type GroupOf<Id extends string> = Id extends `${infer Group}.${string}` ? Group : never
type VerbOf<Id extends string> = Id extends `${string}.${infer Verb}` ? Verb : never

/** The request is optional if none of its members is required. */
type Arguments<Id extends OperationId> =
  Record<never, never> extends RequestTo<Id>
    ? [request?: RequestTo<Id>, options?: CallOptions]
    : [request: RequestTo<Id>, options?: CallOptions]

type RowOf<Page> = Page extends { readonly items: readonly (infer Row)[] }
  ? Row
  : Page extends { readonly agents: readonly (infer Row)[] }
    ? Row
    : Page extends { readonly rows: readonly (infer Row)[] }
      ? Row
      : never

interface Paged<Id extends OperationId> {
  /** The rows of this and all following pages; each page is requested when its first row is needed. */
  all(...args: Arguments<Id>): AsyncIterableIterator<RowOf<ResultFrom<Id>>>
}

/** One operation. Rejects with `ParleyApiError`, `ParleyConnectionError`, or the reason of an aborted signal. */
export type Method<Id extends OperationId> = ((...args: Arguments<Id>) => Promise<ResultFrom<Id>>) &
  (ResultFrom<Id> extends { readonly next_cursor: string | null } ? Paged<Id> : unknown)

/** The items of an event stream until its end. A broken connection is resumed. Rejects as a method does. */
export type Stream<Id extends StreamId> = (
  request: StreamRequestTo<Id>,
  options?: FollowOptions,
) => AsyncIterableIterator<EventFrom<Id>>

type Groups = {
  readonly [Group in GroupOf<OperationId> as Camel<Group>]: {
    readonly [Id in Extract<OperationId, `${Group}.${string}`> as Camel<VerbOf<Id>>]: Method<Id>
  } & { readonly [Id in Extract<StreamId, `${Group}.${string}`> as Camel<VerbOf<Id>>]: Stream<Id> }
}

/**
 * The API with one method per operation, grouped by resource: `client.agents.create({ body: { … } })`. Requests that
 * were lost or refused with a retryable error are retried with the same idempotency key, which is generated if none is
 * given.
 */
export type ParleyClient = Groups

/** Throws `TypeError` if an option is invalid. */
export const ParleyClient: new (options: ClientOptions) => ParleyClient = class {
  constructor(options: ClientOptions) {
    const { key, timeoutMs = 30_000, retries = 3, wait = waitBetween } = options
    if (key !== null && !/^[\x21-\x7e]{1,512}$/.test(key))
      throw new TypeError('key must be an API key: parley_live_… or parley_test_…')
    if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) throw new TypeError('timeoutMs must be more than 0 and below 2^31')
    if (!(Number.isInteger(retries) && retries >= 0)) throw new TypeError('retries must be 0 or more')
    const caller = new Caller({
      baseUrl: readBaseUrl(options.baseUrl),
      key,
      fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
      timeoutMs,
      retries,
      wait,
    })
    Object.assign(this, groupsOn(caller))
  }
} as unknown as new (
  options: ClientOptions,
) => ParleyClient

function groupsOn(caller: Caller): Record<string, Record<string, unknown>> {
  const groups: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const [group, verb] = route.id.split('.', 2) as [string, string]
    const call = (request?: AnyRequest, options?: CallOptions) => caller.call(route, request, options)
    const { rows } = route
    const all = (request?: AnyRequest, options?: CallOptions) =>
      rowsOfAllPages(next => call(next, options), rows ?? '', request)
    const members = groups[camel(group)] ?? {}
    groups[camel(group)] = members
    members[camel(verb)] = rows === null ? call : Object.assign(call, { all })
  }
  for (const route of streamRoutes) {
    const [group, verb] = route.id.split('.', 2) as [string, string]
    const members = groups[camel(group)] ?? {}
    groups[camel(group)] = members
    members[camel(verb)] = (request?: AnyRequest, options?: FollowOptions) => follow(caller, route, request, options)
  }
  return groups
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
