import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { followRun, type RunItem } from './run-events.ts'

const RUN = '00000000-0000-4000-8000-000000000001'

function text(seq: number): string {
  return `id: ${seq}\nevent: digits\ndata: {"seq":${seq},"kind":"digits","direction":"in","digits":"${seq}"}\n\n`
}

/** A server whose answers are given, one for each connection; what it was asked to go on after. */
async function serving(...answers: ((response: ServerResponse) => void)[]) {
  const after: (string | undefined)[] = []
  const server = createServer((request, response) => {
    after.push(request.headers['last-event-id'] as string | undefined)
    response.on('error', () => {})
    const answer = answers[Math.min(after.length, answers.length) - 1]!
    answer(response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { after, options: { api, key: 'k', retryMs: 1 } }
}

async function all(items: AsyncIterable<RunItem>): Promise<number[]> {
  const seqs: number[] = []
  for await (const { seq } of items) seqs.push(seq)
  return seqs
}

const events =
  (...pieces: string[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) response.write(piece)
    response.end()
  }
const END = 'event: end\ndata: {}\n\n'

describe('following a run', () => {
  it('gives each item once and in order until the end, however the bytes are cut', async () => {
    const whole = `retry: 1000\n\n: alive\n\n${text(1)}${text(2)}${END}`
    const { options } = await serving(events(...whole))
    expect(await all(followRun(RUN, options))).toEqual([1, 2])
  })

  it('goes on where it stood when the connection is lost, and takes nothing twice', async () => {
    const cut = (response: ServerResponse) => {
      response.writeHead(200)
      response.write(text(1) + text(2) + text(3).slice(0, 20))
      setImmediate(() => response.destroy())
    }
    const busy = (response: ServerResponse) => {
      response.writeHead(503).end()
    }
    const { options, after } = await serving(cut, busy, events(text(2), text(3), END))
    expect(await all(followRun(RUN, options))).toEqual([1, 2, 3])
    expect(after).toEqual([undefined, '2', '2'])
  })

  it('says why it may not', async () => {
    const { options, after } = await serving(response => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"error":{"code":"not_found","message":"there is no such run"}}')
    })
    await expect(all(followRun(RUN, options))).rejects.toMatchObject({
      code: 'follow_refused',
      message: 'there is no such run',
    })
    expect(after).toHaveLength(1)
  })

  it('gives up where nobody answers', async () => {
    const { options } = await serving(response => void response.destroy())
    await expect(all(followRun(RUN, options))).rejects.toMatchObject({ code: 'follow_failed' })
  })

  it('ends when it is not wanted any more', async () => {
    const { options } = await serving(response => void response.writeHead(200).write(text(1)))
    const stop = new AbortController()
    const items = followRun(RUN, { ...options, signal: stop.signal })
    expect((await items.next()).value).toMatchObject({ seq: 1 })
    stop.abort()
    await expect(items.next()).rejects.toThrow('abort')
  })
})
