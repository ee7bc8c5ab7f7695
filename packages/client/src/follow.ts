import type { Caller } from './caller.ts'
import { ParleyConnectionError } from './errors.ts'
import type { AnyRequest } from './http-request.ts'
import type { OperationRoute } from './operation-route.ts'

/** Options of an event stream. */
export interface FollowOptions {
  /** Ends the stream: the iteration rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** The stream starts after the item with this `seq`. Default: with the first item. */
  readonly after?: number | undefined
  /** Maximum of consecutive retries of a broken connection. Default: that of the client. */
  readonly retries?: number | undefined
}

/**
 * The items of a stream, each once and in order, until its end event. Resumes after the last item if
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
      throw new ParleyConnectionError(
        'connection_failed',
        'the connection closed before the end event of the stream',
        failure,
      )
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
    throw new TypeError('the data of a stream event is not JSON', { cause })
  }
}
