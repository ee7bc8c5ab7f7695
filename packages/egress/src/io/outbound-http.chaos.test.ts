import { randomBelow, SeededRandom } from '@parley/kernel'
import { afterEach, expect, it } from 'vitest'
import { type Answerer, answerBytes } from '../testing/local-server.ts'
import { clientOf, closeAll, serving, urlOf } from './outbound-http.fixture.ts'

afterEach(closeAll)

const METHODS = ['GET', 'POST', 'DELETE'] as const

/** Answers, redirects, hangs, closes or sends garbage, depending on the digit in the path. */
const moody: Answerer = ({ path }, socket) => {
  const mood = Number(path[1])
  if (mood < 4) socket.write(answerBytes(200, 'a'.repeat(mood * 3000)))
  else if (mood === 4) socket.end(answerBytes(200, 'bye', ['Connection: close']))
  else if (mood === 5) socket.write(answerBytes(307, '', [`Location: /${path.length % 10}/`]))
  else if (mood === 6) socket.destroy()
  else if (mood === 7) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab', () => socket.resetAndDestroy())
  else if (mood === 8) socket.end('\0\x01 what?\r\n\r\n')
}

it('with faulty servers, aborts and timeouts every request ends, reaches a server at most once, and leaks nothing', async () => {
  const random = new SeededRandom(20_260_304)
  const below = (bound: number) => randomBelow(random, bound)
  const server = await serving(moody)
  const { client, time } = clientOf([server], { maxResponseBytes: 8000 })
  const results = Array.from({ length: 400 }, async (_, n) => {
    for (let turns = below(30); turns > 0; turns--) await new Promise(resolve => setImmediate(resolve))
    const abort = new AbortController()
    const url = urlOf(server, `/${below(10)}/${n}`)
    const running = client.send({ method: METHODS[below(3)]!, url, timeoutMs: 100 + below(900) }, abort.signal)
    if (below(5) === 0) setImmediate(() => abort.abort())
    return { n, result: await running }
  })
  let over = false
  const all = Promise.all(results).finally(() => {
    over = true
  })
  while (!over) {
    await new Promise(resolve => setImmediate(resolve))
    time.advance(2)
  }
  const ended = await all
  const kinds = new Set(ended.map(({ result }) => result.type))
  expect(kinds).toEqual(new Set(['answered', 'no_answer', 'not_connected']))
  const heard = server.requests.map(({ path }) => path).filter(path => path.length > 3)
  expect(new Set(heard).size).toBe(heard.length)
  for (const { n, result } of ended)
    if (result.type === 'not_connected') expect(heard.filter(path => path.endsWith(`/${n}`))).toEqual([])
  await client.close()
  await server.allClosed()
  expect(client.connections).toEqual({ open: 0, idle: 0 })
  expect(time.nextDeadline()).toBeUndefined()
})
