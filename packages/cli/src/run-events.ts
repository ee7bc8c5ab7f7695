import { setTimeout as pause } from 'node:timers/promises'
import type { ResultFrom } from '@parley/client'
import { ParleyError } from '@parley/kernel'

/** One thing that happened in a run, as its timeline has it. */
export type RunItem = ResultFrom<'runs.timeline'>['items'][number]

export interface FollowOptions {
  /** Base URL of the API. */
  readonly api: string
  readonly key: string
  readonly signal?: AbortSignal
  /** Between one connection and the next; default 1000. */
  readonly retryMs?: number
}

const RETRY_MS = 1000
/** Connections in a row that bring nothing. */
const MOST_RETRIES = 10
/** A server that never ends an event is no server of ours. */
const MOST_CHARACTERS = 1_048_576

/**
 * The timeline of a run as it grows, each item once and in order, until the run has ended. A connection that is lost is
 * made again where it stood. Throws `follow_refused` with what the API says, `follow_failed` where it cannot be reached.
 */
export async function* followRun(runId: string, options: FollowOptions): AsyncGenerator<RunItem> {
  const { signal, retryMs = RETRY_MS } = options
  let known = 0
  for (let failures = 0; ; failures++) {
    try {
      for await (const { event, data } of serverSentEvents(await connect(runId, known, options))) {
        if (event === 'end') return
        const item = JSON.parse(data) as RunItem
        if (item.seq <= known) continue
        failures = 0
        known = item.seq
        yield item
      }
    } catch (error) {
      if (error instanceof ParleyError && !error.retryable) throw error
      signal?.throwIfAborted()
      if (failures >= MOST_RETRIES)
        throw new ParleyError('follow_failed', `the run ${runId} cannot be followed: ${String(error)}`, {
          cause: error,
        })
    }
    await pause(retryMs, undefined, signal && { signal })
  }
}

async function connect(runId: string, known: number, options: FollowOptions): Promise<AsyncIterable<Uint8Array>> {
  const { api, key, signal } = options
  const response = await fetch(`${api}/api/v1/runs/${encodeURIComponent(runId)}/events`, {
    headers: { authorization: `Bearer ${key}`, ...(known > 0 && { 'last-event-id': String(known) }) },
    ...(signal && { signal }),
  })
  if (response.ok && response.body !== null) return response.body
  const envelope = (await response.json().catch(() => null)) as { error?: { message?: unknown } } | null
  const message = String(envelope?.error?.message ?? `status ${response.status}`)
  const retryable = response.status === 429 || response.status >= 500
  throw new ParleyError('follow_refused', message, { retryable })
}

interface ServerSentEvent {
  readonly event: string
  readonly data: string
}

/** Events with data (HTML standard, section 9.2); comments and what is cut off at the end are left out. */
async function* serverSentEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of bytes) {
    text += decoder.decode(chunk, { stream: true })
    const pieces = text.split(/\r?\n\r?\n/)
    text = pieces.pop()!
    if (text.length > MOST_CHARACTERS) throw new ParleyError('follow_failed', 'the server sends an event without end')
    for (const piece of pieces) {
      const fields = piece.split(/\r?\n/).map(line => /^(\w+): ?(.*)$/.exec(line))
      const values = (name: string) => fields.flatMap(field => (field?.[1] === name ? [field[2]!] : []))
      const data = values('data').join('\n')
      if (data !== '') yield { event: values('event')[0] ?? 'message', data }
    }
  }
}
