import { ParleyApiError, ParleyConnectionError } from './errors.ts'
import type { OperationRoute } from './operation-route.ts'

const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 8000
/** A request with a longer Retry-After is not retried; the error reports it. */
const MAX_RETRY_AFTER_MS = 60_000
const PROXY_STATUS = new Set([502, 503, 504])

/**
 * Delay before the next attempt in ms; null: no retry. `random` is between 0 and 1. Not retried are errors that
 * are not retryable, and operations that are unsafe to repeat unless the response says that nothing was executed.
 */
export function retryDelay(error: unknown, route: OperationRoute, attempts: number, random: number): number | null {
  if (!mayRepeat(error, route)) return null
  const longest = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1))
  // Jitter between 50 and 100 %, so that clients do not retry at the same time.
  const delay = longest * (0.5 + random / 2)
  const retryAfterMs = (error as ParleyApiError | ParleyConnectionError).retryAfterMs ?? 0
  return retryAfterMs > MAX_RETRY_AFTER_MS ? null : Math.max(delay, retryAfterMs)
}

function mayRepeat(error: unknown, route: OperationRoute): boolean {
  if (error instanceof ParleyApiError) return error.retryable && (route.repeatable || error.outcome === 'none')
  if (!(error instanceof ParleyConnectionError)) return false
  if (error.code !== 'unexpected_answer' || error.status === null) return route.repeatable
  if (error.status === 429) return true
  // A truncated response, one that is not JSON, or a proxy without a working server.
  return route.repeatable && (error.status < 300 || PROXY_STATUS.has(error.status))
}

/** `Retry-After` (RFC 9110, 10.2.3: seconds, or a date) in ms from `now` (Unix ms); null: absent or unreadable. */
export function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null
  if (/^[0-9]{1,9}$/.test(value.trim())) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
