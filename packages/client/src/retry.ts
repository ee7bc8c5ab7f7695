import { ParleyApiError, ParleyConnectionError } from './errors.ts'
import type { OperationRoute } from './operation-route.ts'

const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 8000
/** A server that asks for more patience is left to the caller's. */
const LONGEST_RETRY_AFTER_MS = 60_000
const PROXY_STATUS = new Set([502, 503, 504])

/**
 * How long to wait before the request is sent again, in ms; null: it is not. `random` is of 0 to 1. Never again: what
 * is not retryable; what would do more when done twice, unless the answer says that nothing was done.
 */
export function retryDelay(error: unknown, route: OperationRoute, attempts: number, random: number): number | null {
  if (!mayRepeat(error, route)) return null
  const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1))
  // Between half of it and all of it: not all clients come back at once.
  const delay = longest * (0.5 + random / 2)
  const asked = (error as ParleyApiError | ParleyConnectionError).retryAfterMs ?? 0
  return asked > LONGEST_RETRY_AFTER_MS ? null : Math.max(delay, asked)
}

function mayRepeat(error: unknown, route: OperationRoute): boolean {
  if (error instanceof ParleyApiError) return error.retryable && (route.repeatable || error.outcome === 'none')
  if (!(error instanceof ParleyConnectionError)) return false
  if (error.code !== 'unexpected_answer' || error.status === null) return route.repeatable
  if (error.status === 429) return true
  // An answer that broke off or was no JSON, or a proxy that had nobody behind it.
  return route.repeatable && (error.status < 300 || PROXY_STATUS.has(error.status))
}

/** `Retry-After` (RFC 9110, 10.2.3: seconds, or a date) in ms from `now` (Unix ms); null: absent or unreadable. */
export function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null
  if (/^[0-9]{1,9}$/.test(value.trim())) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
