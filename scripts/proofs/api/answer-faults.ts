import { API_ERRORS, type Operation } from '@parley/contract'
import { errorEnvelope } from '@parley/contract/testing'
import type { RawAnswer, RawRequest } from './raw-http.ts'

/** A request and the operation that it is routed to; null: none. */
export interface Trial {
  /** How the request was made, such as "valid" or "broken: …". */
  readonly kind: string
  readonly operation: Operation | null
  readonly request: RawRequest
}

const VISIBLE = /^[\x21-\x7e]{1,256}$/
/** Statuses of requests that are not valid HTTP or arrive too slowly; no error code has them. */
const UNREADABLE: ReadonlySet<number> = new Set([408, 431])

/** Violations of the rules for every answer; empty if there are none. */
export function answerFaults({ operation, request }: Trial, answer: RawAnswer): string[] {
  const found: string[] = []
  const { status, headers, text } = answer
  if (status >= 500) found.push(`status ${status}`)
  const id = headers['x-request-id']
  if (typeof id !== 'string' || !VISIBLE.test(id)) found.push('no X-Request-Id')
  const sentId = request.headers['x-request-id']
  if (sentId !== undefined && VISIBLE.test(sentId) && id !== sentId)
    found.push('the X-Request-Id differs from the one that was sent')
  if (headers['cache-control'] !== 'no-store') found.push('the Cache-Control header is not no-store')
  if (request.method === 'HEAD') return found
  const body = jsonOf(text)
  if (body === undefined) return [...found, 'the body is not JSON']
  if (status >= 400) return [...found, ...envelopeFaults(status, body)]
  if (operation === null) return [...found, `status ${status} for a request that is no operation`]
  if (!operation.statuses.some(declared => declared === status)) found.push(`status ${status} is not declared`)
  if (!operation.output.safeParse(body).success) found.push('the body does not match the schema of the operation')
  return found
}

function envelopeFaults(status: number, body: unknown): string[] {
  const parsed = errorEnvelope.safeParse(body)
  if (!parsed.success) return ['the body is not an error envelope']
  const { code, outcome } = parsed.data.error
  const found: string[] = []
  if (API_ERRORS[code].status !== status && !UNREADABLE.has(status)) found.push(`${code} with status ${status}`)
  if (status < 500 && outcome !== 'none') found.push(`status ${status} with the outcome "${outcome}"`)
  return found
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
