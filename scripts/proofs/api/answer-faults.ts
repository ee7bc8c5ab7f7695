import { API_ERRORS, type Operation } from '@parley/contract'
import { errorEnvelope } from '@parley/contract/testing'
import type { RawAnswer, RawRequest } from './raw-http.ts'

/** A request, and the operation that it reaches if it reaches one. */
export interface Trial {
  /** What is odd about it. */
  readonly kind: string
  readonly operation: Operation | null
  readonly request: RawRequest
}

const VISIBLE = /^[\x21-\x7e]{1,256}$/
/** Statuses that say what no error code does: what came was no HTTP that could be read, or came too slowly. */
const UNREADABLE: ReadonlySet<number> = new Set([408, 431])

/** Violations of the promises that every answer must keep; empty when there are none. */
export function answerFaults({ operation, request }: Trial, answer: RawAnswer): string[] {
  const found: string[] = []
  const { status, headers, text } = answer
  if (status >= 500) found.push(`status ${status}`)
  const id = headers['x-request-id']
  if (typeof id !== 'string' || !VISIBLE.test(id)) found.push('no X-Request-Id')
  const own = request.headers['x-request-id']
  if (own !== undefined && VISIBLE.test(own) && id !== own) found.push('another X-Request-Id than was sent')
  if (headers['cache-control'] !== 'no-store') found.push('may be stored')
  if (request.method === 'HEAD') return found
  const body = jsonOf(text)
  if (body === undefined) return [...found, 'no JSON']
  if (status >= 400) return [...found, ...envelopeFaults(status, body)]
  if (operation === null) return [...found, `${status} for what is no operation`]
  if (!operation.statuses.some(declared => declared === status)) found.push(`status ${status} is not declared`)
  if (!operation.output.safeParse(body).success) found.push('no answer of the operation')
  return found
}

function envelopeFaults(status: number, body: unknown): string[] {
  const parsed = errorEnvelope.safeParse(body)
  if (!parsed.success) return ['no error envelope']
  const { code, outcome } = parsed.data.error
  const found: string[] = []
  if (API_ERRORS[code].status !== status && !UNREADABLE.has(status)) found.push(`${code} with status ${status}`)
  if (status < 500 && outcome !== 'none') found.push(`${status} with an outcome that is unknown`)
  return found
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
