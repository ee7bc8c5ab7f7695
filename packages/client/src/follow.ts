import type { Caller } from './caller.ts'
import { ParleyConnectionError } from './errors.ts'
import type { AnyRequest } from './http-request.ts'
import type { OperationRoute } from './operation-route.ts'

/** How something is followed. */
export interface FollowOptions {
  /** Ends it: the iteration rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Begins after the item of this `seq`. Default: from the first. */
  readonly after?: number | undefined
  /** How often in a row a broken connection is tried again. Default: the client's. */
  readonly retries?: number | undefined
}

/**
 * The items of a stream, each once and in order, until it says that there are no more. Goes on after the last item when
 * the connection breaks. Rejects with `ParleyApiError`, `ParleyConnectionError` or the signal's reason.
 */
export async function* follow(
  caller: Caller,
  route: OperationRoute,
  request: AnyRequest = {},
  { signal, after, retries }: FollowOptions = {},
): AsyncGenerator<unknown> {
  let last = after === undefined ? '' : String(after)
  for (let attempts = 1; ; attempts++) {
    try {
      for await (const { id, type, data } of caller.events(route, request, { last, attempts, signal })) {
        if (type === 'end') return
        attempts = 1
        last = id
        yield parsed(data)
      }
      const failure = { operation: route.id, attempts, idempotencyKey: null, status: null, retryAfterMs: null }
      throw new ParleyConnectionError('connection_failed', 'the stream ended before the run did', failure)
    } catch (error) {
      signal?.throwIfAborted()
      await caller.pause(error, route, attempts, { retries, signal })
    }
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new TypeError('an event of the stream is no JSON', { cause })
  }
}
