import { request as plainRequest } from 'node:http'
import type { LookupFunction } from 'node:net'
import { VirtualTime } from '@parley/kernel'
import { afterEach, describe, expect, it } from 'vitest'
import { always, LocalServer } from '../testing/local-server.ts'
import { clientIn, clientOf, closeAll, never, send, serving, statusAndText, urlOf } from './outbound-http.fixture.ts'

afterEach(closeAll)

const NOT_ALLOWED = { type: 'refused', reason: 'address_not_allowed', durationMs: 0 }
const BAD_URL = { type: 'refused', reason: 'bad_url', durationMs: 0 }

describe('requests to addresses that are not public', () => {
  it.each([
    'http://127.0.0.1:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://localhost:PORT/',
    'http://LOCALHOST.:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://127.0.1:PORT/',
    'http://0:PORT/',
    'http://0.0.0.0:PORT/',
    'http://[::]:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/',
    'http://[64:ff9b::127.0.0.1]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://%31%32%37.0.0.1:PORT/',
    'http://１２７.0.0.1:PORT/',
    'http://①②⑦.0.0.1:PORT/',
    'http://127。0。0。1:PORT/',
    'http:127.0.0.1:PORT/',
    'http:\\\\127.0.0.1:PORT\\',
    '\thttp://127.0.0.1:PORT/ ',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://10.0.0.1/',
    'https://192.168.0.1/',
  ])('requests to addresses that are not public are refused in any spelling: %s', async url => {
    const server = await serving(always(200))
    const { client } = clientOf([], { resolve: async () => ['127.0.0.1'] })
    expect(await send(client, url.replace('PORT', String(server.port)))).toEqual(NOT_ALLOWED)
    expect(server.connections).toBe(0)
  })

  it('requests to addresses that are not public are refused when a host name resolves to such an address', async () => {
    const server = await serving(always(200))
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '169.254.169.254', 'fe80::1%lo', 'x']) {
      const { client } = clientOf([], { resolve: async () => [address] })
      expect(await send(client, urlOf(server))).toEqual(NOT_ALLOWED)
    }
    expect(server.connections).toBe(0)
  })

  it('requests to addresses that are not public are refused with the resolver of the system as well', async () => {
    const server = await serving(always(200))
    const client = clientIn(new VirtualTime(), { allow: [] })
    expect(await send(client, `http://localhost:${server.port}/`)).toEqual(NOT_ALLOWED)
    expect(server.connections).toBe(0)
  })

  it('requests to addresses that are not public use only the public addresses of a name that has both kinds', async () => {
    const server = await serving(always(200, 'permitted'), { address: '127.0.0.2' })
    const inner = await serving(always(200, 'inside'), { address: '127.0.0.1', port: server.port })
    const { client } = clientOf([], {
      allow: [{ host: '127.0.0.2', port: server.port }],
      resolve: async () => ['127.0.0.1', '127.0.0.2', '127.0.0.1'],
    })
    expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, 'permitted'])
    expect(inner.connections).toBe(0)
  })
})

describe('a destination in PARLEY_EGRESS_ALLOW', () => {
  it('a destination in PARLEY_EGRESS_ALLOW is reachable by its address in any spelling, and by a name that resolves to it', async () => {
    const server = await serving(always(200, 'here'))
    const allow = [{ host: '127.0.0.1', port: server.port }]
    const { client } = clientOf([], { allow })
    for (const host of ['127.0.0.1', '127.1', '2130706433', 'shop.test'])
      expect(statusAndText(await send(client, `http://${host}:${server.port}/`))).toEqual([200, 'here'])
  })

  it('a destination in PARLEY_EGRESS_ALLOW is reachable by its name at any address', async () => {
    const server = await serving(always(200, 'here'))
    const { client } = clientOf([server])
    for (const host of ['shop.test', 'SHOP.test', 'shop.test.'])
      expect(statusAndText(await send(client, `http://${host}:${server.port}/`))).toEqual([200, 'here'])
  })

  it('a destination in PARLEY_EGRESS_ALLOW is reachable only at the listed port and under the listed name', async () => {
    const server = await serving(always(200))
    const other = await serving(always(200))
    const { client } = clientOf([server])
    expect(await send(client, urlOf(other))).toEqual(NOT_ALLOWED)
    expect(await send(client, `http://sub.shop.test:${server.port}/`)).toEqual(NOT_ALLOWED)
    expect(await send(client, `http://127.0.0.1:${server.port}/`)).toEqual(NOT_ALLOWED)
    expect(server.connections + other.connections).toBe(0)
  })
})

describe('a request is refused as bad_url for', () => {
  it.each([
    'ftp://shop.test/',
    'file:///etc/passwd',
    'gopher://shop.test/',
    'data:text/plain,x',
    'javascript:1',
    'ws://shop.test/',
    'shop.test/',
    '//shop.test/',
    '/',
    '',
    'http://',
    'http://./',
    'http://user@shop.test/',
    'http://user:password@shop.test/',
    'http://:password@shop.test/',
    'http://shop.test:0/',
    'http://shop.test:65536/',
    'http://shop.test:http/',
    'http://[::1/',
    'http://a b/',
    'http://256.256.256.256/',
    'http://shop.test%00/',
    'http://shop.test%2f@evil.test/',
    `http://shop.test/${'a'.repeat(20_000)}`,
  ])('%s', async url => {
    const { client } = clientOf([], { allow: [{ host: 'shop.test', port: 80 }] })
    expect(await send(client, url)).toEqual(BAD_URL)
  })
})

/** Two servers on one port; the name resolves to the first server's address at the first lookup, and to the second's afterwards. */
async function rebinding() {
  const first = await serving((_, socket) =>
    socket.write('HTTP/1.1 307 Again\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n'),
  )
  const second = await serving(always(200, 'inside'), { address: '127.0.0.2', port: first.port })
  const answers = ['127.0.0.1', '127.0.0.2']
  let lookups = 0
  const resolve = async () => [answers[Math.min(lookups++, 1)]!]
  return { first, second, resolve, lookups: () => lookups }
}

describe('a name that changes its address between check and connect', () => {
  it('a name that changes its address between check and connect is resolved once, and the request and its redirects go to the checked address', async () => {
    const { first, second, resolve, lookups } = await rebinding()
    const { client } = clientOf([], { allow: [{ host: '127.0.0.1', port: first.port }], resolve })
    expect(statusAndText(await send(client, urlOf(first)))).toEqual([307, ''])
    expect(first.requests.map(request => request.path)).toEqual(['/', '/again', '/again', '/again'])
    expect([lookups(), second.connections]).toEqual([1, 0])
    // A new request resolves the name again and checks the new address.
    expect(await send(client, urlOf(first))).toEqual(NOT_ALLOWED)
    expect([lookups(), second.connections]).toEqual([2, 0])
  })

  it('a name that changes its address between check and connect is contacted at the checked address also when the prepared request is sent later', async () => {
    const { first, second, resolve } = await rebinding()
    const { client, time } = clientOf([], { allow: [{ host: '127.0.0.1', port: first.port }], resolve })
    const prepared = await client.prepare({ method: 'GET', url: urlOf(first), timeoutMs: 60_000 }, never)
    expect(await send(client, urlOf(first))).toEqual(NOT_ALLOWED)
    time.advance(30_000)
    expect(prepared.type === 'prepared' && statusAndText(await prepared.send(never))).toEqual([307, ''])
    expect(second.connections).toBe(0)
  })

  it('a name that changes its address between check and connect is not contacted over an idle connection to its old address', async () => {
    const first = await serving(always(200, 'old'))
    const second = await serving(always(200, 'new'), { address: '127.0.0.2', port: first.port })
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.2']
    const { client } = clientOf([first], { resolve: async () => [answers.shift()!] })
    const bodies = []
    for (let n = 0; n < 3; n++) bodies.push(statusAndText(await send(client, urlOf(first))))
    expect(bodies).toEqual([
      [200, 'old'],
      [200, 'new'],
      [200, 'new'],
    ])
    expect([first.connections, second.connections]).toEqual([1, 1])
  })

  it('a name that changes its address between check and connect is contacted at the second address by a client that resolves twice: the test would notice it', async () => {
    const { first, second, resolve } = await rebinding()
    expect(await resolve()).toEqual(['127.0.0.1'])
    const status = await new Promise(done => {
      const lookup: LookupFunction = (_, options, found) => {
        const callback = ([address]: string[]) =>
          options.all ? found(null, [{ address: address!, family: 4 }]) : found(null, address!, 4)
        resolve().then(callback, () => {})
      }
      plainRequest({ host: 'shop.test', port: first.port, lookup, agent: false }, answer => {
        answer.resume()
        done(answer.statusCode)
      }).end()
    })
    expect([status, second.connections]).toEqual([200, 1])
  })
})

describe('a name with several addresses', () => {
  it('a name with several addresses is contacted at the next address if the first refuses the connection', async () => {
    const server = await serving(always(200, 'second'), { address: '127.0.0.3' })
    const { client } = clientOf([server], { resolve: async () => ['127.0.0.2', '127.0.0.3'] })
    expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, 'second'])
  })

  it('a name with several addresses yields not_connected if all addresses refuse the connection', async () => {
    const server = await LocalServer.start(always(200))
    const { port } = server
    await server.close()
    const { client } = clientOf([], {
      allow: [{ host: 'shop.test', port }],
      resolve: async () => ['127.0.0.2', '127.0.0.1'],
    })
    expect(await send(client, `http://shop.test:${port}/`, { method: 'POST', body: 'x' })).toEqual({
      type: 'not_connected',
      reason: 'ECONNREFUSED',
      durationMs: 0,
    })
  })
})

describe('a name that cannot be resolved', () => {
  it('a name that cannot be resolved yields not_connected with the resolver error', async () => {
    const { client } = clientOf([], { resolve: () => Promise.reject(new Error('no such name')) })
    expect(await send(client, 'http://nowhere.test/')).toEqual({
      type: 'not_connected',
      reason: 'no such name',
      durationMs: 0,
    })
  })

  it('a name that cannot be resolved yields not_connected if it has no addresses', async () => {
    const { client } = clientOf([], { resolve: async () => [] })
    expect(await send(client, 'http://nowhere.test/')).toMatchObject({ type: 'not_connected' })
  })

  it('a name that cannot be resolved ends the request at its timeout', async () => {
    const { client, time } = clientOf([], { resolve: () => new Promise(() => {}) })
    const result = send(client, 'http://slow.test/', { timeoutMs: 700 })
    time.advance(700)
    expect(await result).toEqual({ type: 'not_connected', reason: 'timeout', durationMs: 700 })
  })

  it('a name that cannot be resolved ends the request at its abort', async () => {
    const { client } = clientOf([], { resolve: () => new Promise(() => {}) })
    const abort = new AbortController()
    const result = client.send({ method: 'GET', url: 'http://slow.test/', timeoutMs: 700 }, abort.signal)
    abort.abort()
    expect(await result).toMatchObject({ type: 'not_connected', reason: 'aborted' })
  })
})
