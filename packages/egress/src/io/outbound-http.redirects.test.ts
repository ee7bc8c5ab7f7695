import { afterEach, describe, expect, it } from 'vitest'
import { type Answerer, always, answerBytes } from '../testing/local-server.ts'
import { clientOf, closeAll, send, serving, statusAndText, urlOf } from './outbound-http.fixture.ts'

afterEach(closeAll)

/** Redirects `/N` to `/N-1` down to `/0`, which answers. */
function countdown(status: number): Answerer {
  return ({ path }, socket) => {
    const n = Number(path.slice(1))
    socket.write(n === 0 ? answerBytes(200, 'there') : answerBytes(status, 'on', [`Location: /${n - 1}`]))
  }
}

describe('redirects on the same host', () => {
  it('redirects on the same host are followed up to three times', async () => {
    const server = await serving(countdown(302))
    const { client } = clientOf([server])
    expect(statusAndText(await send(client, urlOf(server, '/3')))).toEqual([200, 'there'])
    expect(server.requests.map(request => request.path)).toEqual(['/3', '/2', '/1', '/0'])
    expect(server.connections).toBe(1)
  })

  it('redirects on the same host are returned as the answer at the fourth redirect, and in a loop', async () => {
    const server = await serving(countdown(302))
    const { client } = clientOf([server])
    expect(statusAndText(await send(client, urlOf(server, '/4')))).toEqual([302, 'on'])
    const loop = await serving(always(301, '', ['Location: /']))
    expect(statusAndText(await send(clientOf([loop]).client, urlOf(loop)))).toEqual([301, ''])
    expect(loop.requests).toHaveLength(4)
  })

  it('of a POST request become GET, or keep method and body with 307 and 308', async () => {
    for (const [status, methods] of [
      [303, ['POST', 'GET']],
      [307, ['POST', 'POST']],
    ] as const) {
      const server = await serving(countdown(status))
      const { client } = clientOf([server])
      const headers = { 'Content-Type': 'text/plain', Authorization: 'Bearer k' }
      await send(client, urlOf(server, '/1'), { method: 'POST', body: 'words', headers })
      expect(server.requests.map(request => request.method)).toEqual(methods)
      expect(server.requests[1]?.body).toBe(status === 307 ? 'words' : '')
      expect(server.requests[1]?.headers['content-type']).toBe(status === 307 ? 'text/plain' : undefined)
      expect(server.requests[1]?.headers.authorization).toBe('Bearer k')
    }
  })

  it('redirects on the same host share one timeout', async () => {
    const server = await serving(({ path }, socket) => {
      if (path === '/1') socket.write(answerBytes(302, '', ['Location: /0']))
    })
    const { client, time } = clientOf([server])
    const result = send(client, urlOf(server, '/1'), { timeoutMs: 900 })
    await server.received(2)
    time.advance(900)
    expect(await result).toEqual({ type: 'no_answer', reason: 'timeout', durationMs: 900 })
  })

  it('redirects on the same host to a server that no longer answers yield no_answer, because the first request may have acted', async () => {
    const server = await serving((_, socket) => {
      socket.end(answerBytes(307, '', ['Location: /0', 'Connection: close']))
      server.close().catch(() => {})
    })
    const { client } = clientOf([server])
    expect(await send(client, urlOf(server, '/1'), { method: 'POST', body: 'x' })).toMatchObject({ type: 'no_answer' })
  })
})

describe('redirects to another host', () => {
  it('redirects to another host are returned as the answer, and nothing is sent there', async () => {
    const inside = await serving(always(200, 'secret'))
    for (const elsewhere of [
      `http://127.0.0.1:${inside.port}/`,
      `http://inside.test:${inside.port}/`,
      `http://shop.test:${inside.port}/`,
      `//inside.test:${inside.port}/`,
      `http://[::ffff:127.0.0.1]:${inside.port}/`,
    ]) {
      const server = await serving(always(302, 'elsewhere', [`Location: ${elsewhere}`]))
      // All of these targets could be reached.
      const { client } = clientOf([server], {
        allow: [server, inside].flatMap(({ port }) =>
          ['shop.test', 'inside.test', '127.0.0.1'].map(host => ({ host, port })),
        ),
      })
      expect(statusAndText(await send(client, urlOf(server)))).toEqual([302, 'elsewhere'])
    }
    expect(inside.connections).toBe(0)
  })
})
