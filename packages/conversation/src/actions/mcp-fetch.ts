import { createHash } from 'node:crypto'
import type { Egress } from '@parley/egress'
import type { Ms } from '@parley/kernel'
import type { Receipt } from '../ledger.ts'

/** What the requests of one session came to. */
export interface FetchLog {
  /** Whether the call of the tool left. */
  isCallSent: boolean
  /** Why a request was not sent; null: all were. */
  refusal: 'address_not_allowed' | 'bad_url' | null
  readonly receipts: Receipt[]
}

/** Headers that describe the bytes on the wire, which the egress has decoded. */
const OF_THE_WIRE = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'])

/**
 * A `fetch` for the MCP client whose requests go through the egress: the address is checked, the answer is bounded and complete before it is
 * read. The client's standing stream of the server's messages (GET) is refused, as a server may do.
 */
export function fetchThrough(egress: Egress, timeoutMs: Ms, log: FetchLog) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const method = init.method ?? 'GET'
    if (method !== 'POST') return new Response(null, { status: 405 })
    const body = typeof init.body === 'string' ? init.body : ''
    const isCall = body.includes('"tools/call"')
    const headers = Object.fromEntries(new Headers(init.headers).entries())
    const signal = init.signal ?? new AbortController().signal
    const prepared = await egress.prepare(
      { method, url: String(url), headers, body, keepsBody: true, timeoutMs },
      signal,
    )
    if (prepared.type === 'refused') log.refusal = prepared.reason
    if (prepared.type !== 'prepared') throw new TypeError(`the MCP server is not reached: ${prepared.reason}`)
    log.isCallSent ||= isCall
    const answer = await prepared.send(signal)
    if (answer.type !== 'answered') throw new TypeError(`the MCP server gave no answer: ${answer.reason}`)
    log.receipts.push({
      kind: 'http',
      status: answer.status,
      response_sha256: answer.truncated ? null : createHash('sha256').update(answer.body).digest('hex'),
      response_bytes: answer.body.length,
      duration_ms: Math.round(answer.durationMs),
      send_attempt: 1,
    })
    const kept = Object.entries(answer.headers).filter(([name]) => !OF_THE_WIRE.has(name))
    const hasBody = answer.status >= 200 && ![204, 205, 304].includes(answer.status)
    return new Response(hasBody ? Buffer.from(answer.body) : null, { status: answer.status, headers: kept })
  }
}
