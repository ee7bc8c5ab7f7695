import { describe, expect, it } from 'vitest'
import { ParleyApiError, ParleyClient, ParleyConnectionError } from './index.ts'

const item = (seq: number) => `id: ${seq}\nevent: digits\ndata: {"seq":${seq},"kind":"digits"}\n\n`
const END = 'event: end\ndata: {}\n\n'

/** A stream that comes in pieces of `size` bytes, and breaks off after them where it is not ended. */
function streamed(text: string, { size = 7, breaks = false } = {}): Response {
  const bytes = new TextEncoder().encode(text)
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent < bytes.length) controller.enqueue(bytes.subarray(sent, sent + size))
      else if (breaks) controller.error(new TypeError('terminated'))
      else controller.close()
      sent += size
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const refused = (status: number, code: string, retryable: boolean) =>
  Response.json({ error: { code, message: 'no', retryable, outcome: 'none' } }, { status })

function server(...steps: (Response | Error)[]) {
  const lastEventIds: (string | null)[] = []
  const waits: number[] = []
  const parley = new ParleyClient({
    baseUrl: 'https://parley.example',
    key: 'parley_live_x',
    wait: async ms => void waits.push(ms),
    fetch: async (_, init) => {
      lastEventIds.push(new Headers(init?.headers).get('last-event-id'))
      const step = steps.shift() ?? new Error('the client sent more requests than the test has answers for')
      if (step instanceof Error) throw step
      return step
    },
  })
  const seqs = async (options = {}) => {
    const seen: number[] = []
    for await (const { seq } of parley.runs.events({ params: { run_id: 'r' } }, options)) seen.push(seq)
    return seen
  }
  return { lastEventIds, waits, seqs, parley }
}

describe('following an event stream', () => {
  it('each item is delivered once until the end event, however the stream is split into chunks', async () => {
    for (const size of [1, 3, 1000]) {
      const { seqs, lastEventIds } = server(
        streamed(`retry: 1000\n\n: alive\n\n${item(1)}${item(2)}${END}${item(3)}`, { size }),
      )
      expect(await seqs()).toEqual([1, 2])
      expect(lastEventIds).toEqual([null])
    }
  })

  it('a broken connection is resumed after the last item', async () => {
    const { seqs, lastEventIds, waits } = server(
      streamed(`${item(1)}${item(2)}id: 3\nevent: di`, { breaks: true }),
      new TypeError('fetch failed'),
      refused(503, 'provider_unavailable', true),
      streamed(item(3)),
      streamed(END),
    )
    expect(await seqs()).toEqual([1, 2, 3])
    expect(lastEventIds).toEqual([null, '2', '2', '2', '3'])
    expect(waits).toHaveLength(4)
  })

  it('option "after" starts the stream behind that item', async () => {
    const { seqs, lastEventIds } = server(streamed(`${item(8)}${END}`))
    expect(await seqs({ after: 7 })).toEqual([8])
    expect(lastEventIds).toEqual(['7'])
  })

  it('a refusal of the API is thrown, and connection failures are thrown after the retries', async () => {
    await expect(server(refused(404, 'not_found', false)).seqs()).rejects.toBeInstanceOf(ParleyApiError)
    const { seqs, lastEventIds } = server(...Array.from({ length: 9 }, () => new TypeError('fetch failed')))
    await expect(seqs({ retries: 2 })).rejects.toBeInstanceOf(ParleyConnectionError)
    expect(lastEventIds).toHaveLength(3)
    await expect(server(Response.json({})).seqs({ retries: 0 })).rejects.toMatchObject({ code: 'unexpected_answer' })
  })

  it('the stream is closed if its signal is aborted or the loop is left', async () => {
    const ending = new AbortController()
    ending.abort(new Error('enough'))
    await expect(server(streamed(item(1))).seqs({ signal: ending.signal })).rejects.toThrow('enough')
    const { parley, lastEventIds } = server(streamed(`${item(1)}${item(2)}`))
    for await (const { seq } of parley.runs.events({ params: { run_id: 'r' } })) if (seq === 1) break
    expect(lastEventIds).toHaveLength(1)
  })
})
