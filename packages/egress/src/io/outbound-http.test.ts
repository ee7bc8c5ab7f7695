import { afterEach, describe, expect, it } from 'vitest'
import { always, answerBytes } from '../testing/local-server.ts'
import { clientOf, closeAll, never, send, serving, statusAndText, urlOf } from './outbound-http.fixture.ts'

afterEach(closeAll)

describe('a request of an agent', () => {
  it('a request of an agent reaches the server unchanged, and returns its answer', async () => {
    const server = await serving(always(201, '{"ok":true}', ['Content-Type: application/json', 'X-Two: a', 'X-Two: b']))
    const { client } = clientOf([server])
    const result = await send(client, urlOf(server, '/orders/1%2F2?q=a%20b#part'), {
      method: 'POST',
      headers: { 'X-Api-Key': 'k1', 'Content-Type': 'application/json' },
      body: '{"name":"José"}',
    })
    expect(server.requests).toEqual([
      {
        method: 'POST',
        path: '/orders/1%2F2?q=a%20b',
        headers: {
          host: `shop.test:${server.port}`,
          connection: 'keep-alive',
          'user-agent': 'Parley',
          'x-api-key': 'k1',
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          'content-length': '16',
        },
        body: '{"name":"José"}',
        connection: 1,
      },
    ])
    expect(result).toEqual({
      type: 'answered',
      status: 201,
      headers: { 'content-type': 'application/json', 'x-two': 'a, b', 'content-length': '11' },
      body: Buffer.from('{"ok":true}'),
      truncated: false,
      durationMs: 0,
    })
  })

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('may use the method %s', async method => {
    const server = await serving(always(200, 'done'))
    const { client } = clientOf([server])
    expect(statusAndText(await send(client, urlOf(server), { method }))).toEqual([200, 'done'])
    expect(server.requests[0]?.method).toBe(method)
  })

  it('a request of an agent returns error statuses of the server as answers', async () => {
    const server = await serving(always(503, 'later'))
    const { client } = clientOf([server])
    expect(statusAndText(await send(client, urlOf(server)))).toEqual([503, 'later'])
  })

  it('a request of an agent ignores informational answers', async () => {
    const server = await serving((_, socket) =>
      socket.write(Buffer.concat([Buffer.from('HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n'), answerBytes(200, 'then')])),
    )
    const { client } = clientOf([server])
    const result = await send(client, urlOf(server))
    expect(statusAndText(result)).toEqual([200, 'then'])
    expect(result.type === 'answered' && result.headers).toEqual({ 'content-length': '4' })
  })

  it('a request of an agent accepts an answer whose body ends with the connection', async () => {
    const server = await serving((_, socket) => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it'))
    const { client } = clientOf([server])
    expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, 'all of it'])
  })

  it('a request of an agent ignores user headers that would change the connection or its destination', async () => {
    const server = await serving(always(200))
    const { client } = clientOf([server])
    await send(client, urlOf(server), {
      method: 'POST',
      body: 'abc',
      headers: {
        Host: 'evil.test',
        'Content-Length': '1',
        'Transfer-Encoding': 'chunked',
        Connection: 'close, x-api-key',
        'Keep-Alive': 'timeout=9999',
        Upgrade: 'h2c',
        Expect: '100-continue',
        TE: 'trailers',
        'Accept-Encoding': 'gzip',
        'Proxy-Authorization': 'x',
        'Bad Name': 'x',
        'Bad\r\nName': 'x',
        'X-Split': 'a\r\nX-Injected: b\r\n\r\nGET /second HTTP/1.1',
        'X-Nul': 'a\0b',
        'x-CASE': 'one',
        'X-Case': 'two',
      },
    })
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]).toMatchObject({ path: '/', body: 'abc' })
    expect(server.requests[0]?.headers).toEqual({
      host: `shop.test:${server.port}`,
      connection: 'keep-alive',
      'user-agent': 'Parley',
      'accept-encoding': 'identity',
      'content-length': '3',
      'x-split': 'a  X-Injected: b    GET /second HTTP/1.1',
      'x-nul': 'a b',
      'x-case': 'two',
    })
  })
})

describe('connections', () => {
  it('connections are reused for the next request', async () => {
    const server = await serving(always(200))
    const { client } = clientOf([server])
    for (let n = 0; n < 5; n++) await send(client, urlOf(server))
    expect(server.requests.map(request => request.connection)).toEqual([1, 1, 1, 1, 1])
  })

  it('connections are new for requests that must not be lost on a connection that its server is closing', async () => {
    const server = await serving(always(200))
    const { client } = clientOf([server])
    const idempotent = { 'Idempotency-Key': 'k' }
    await send(client, urlOf(server))
    await send(client, urlOf(server), { method: 'POST' })
    await send(client, urlOf(server), { method: 'DELETE' })
    await send(client, urlOf(server), { method: 'POST', headers: idempotent })
    await send(client, urlOf(server))
    expect(server.requests.map(request => request.connection)).toEqual([1, 2, 3, 3, 3])
  })

  it('connections are opened for up to 64 simultaneous requests; further requests wait', async () => {
    const held: (() => void)[] = []
    const server = await serving((_, socket) => held.push(() => socket.write(answerBytes(200, 'ok'))))
    const { client } = clientOf([server])
    const results = Array.from({ length: 100 }, () => send(client, urlOf(server)))
    await server.received(64)
    expect(server.connections).toBe(64)
    for (let answered = 0; answered < 100; answered++) {
      await server.received(Math.min(100, answered + 64))
      held[answered]!()
      if (answered >= 36) continue
      await server.received(answered + 65)
    }
    expect((await Promise.all(results)).map(result => result.type)).toEqual(Array(100).fill('answered'))
    expect(server.connections).toBe(64)
  })

  it('connections are not used by a request that times out while it waits: it is not_connected', async () => {
    const server = await serving(() => {})
    const { client, time } = clientOf([server])
    const first = Array.from({ length: 64 }, () => send(client, urlOf(server)))
    await server.received(64)
    const late = send(client, urlOf(server), { timeoutMs: 500 })
    await new Promise(resolve => setImmediate(resolve))
    time.advance(500)
    expect(await late).toEqual({ type: 'not_connected', reason: 'timeout', durationMs: 500 })
    time.advance(500)
    expect((await Promise.all(first)).map(result => result.type)).toEqual(Array(64).fill('no_answer'))
    expect(server.requests).toHaveLength(64)
  })

  it('connections are closed after being idle for four seconds', async () => {
    const server = await serving(always(200))
    const { client, time } = clientOf([server])
    await send(client, urlOf(server))
    time.advance(3999)
    expect(client.connections).toEqual({ open: 1, idle: 1 })
    time.advance(1)
    expect(client.connections).toEqual({ open: 0, idle: 0 })
    await server.allClosed()
    expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, ''])
    expect(server.connections).toBe(2)
  })

  it('that the server closed are replaced, and no request is lost or sent twice', async () => {
    const server = await serving((request, socket) => {
      socket.write(answerBytes(200, String(request.connection)))
      socket.end()
    })
    const { client } = clientOf([server])
    for (let n = 1; n <= 3; n++) {
      expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, String(n)])
      await server.allClosed()
    }
    expect(server.requests).toHaveLength(3)
  })

  it('connections are not shared between names or ports', async () => {
    const servers = [await serving(always(200)), await serving(always(200))]
    const allow = servers.flatMap(({ port }) => [
      { host: 'a.test', port },
      { host: 'b.test', port },
    ])
    const { client } = clientOf(servers, { allow })
    for (const server of servers)
      for (const name of ['a', 'b']) await send(client, `http://${name}.test:${server.port}/`)
    expect(servers.map(server => server.connections)).toEqual([2, 2])
    expect(servers[0]!.requests.map(request => request.headers.host)).toEqual([
      `a.test:${servers[0]!.port}`,
      `b.test:${servers[0]!.port}`,
    ])
  })
})

describe('closing the client', () => {
  it('closing the client closes idle and busy connections', async () => {
    const server = await serving((request, socket) => {
      if (request.path !== '/hang') socket.write(answerBytes(200))
    })
    const { client } = clientOf([server])
    const both = [send(client, urlOf(server)), send(client, urlOf(server, '/hang'))]
    await both[0]
    await server.received(2)
    await client.close()
    expect(await both[1]).toMatchObject({ type: 'no_answer', reason: 'closed' })
    await server.allClosed()
    expect(client.connections).toEqual({ open: 0, idle: 0 })
    expect(await send(client, urlOf(server))).toMatchObject({ type: 'not_connected', reason: 'closed' })
  })

  it('closing the client also ends requests that are prepared and not sent', async () => {
    const server = await serving(always(200))
    const { client } = clientOf([server])
    const prepared = await client.prepare({ method: 'GET', url: urlOf(server), timeoutMs: 1000 }, never)
    await client.close()
    expect(prepared.type === 'prepared' && (await prepared.send(never))).toMatchObject({ type: 'not_connected' })
    expect(server.connections).toBe(0)
  })

  it('closing the client is not needed to stop timers: none is left after an answer', async () => {
    const server = await serving(always(200, '', ['Connection: close']))
    const { client, time } = clientOf([server])
    await send(client, urlOf(server))
    await server.allClosed()
    await client.close()
    expect(time.nextDeadline()).toBeUndefined()
  })
})
