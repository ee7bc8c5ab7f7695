import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { always, answerBytes } from '../testing/local-server.ts'
import { ask, clientOf, closeAll, said, serving, shop } from './outbound-http.fixture.ts'

afterEach(closeAll)

describe('a server that hangs', () => {
  it.each([
    ['before a word', ''],
    ['in the status line', 'HTTP/1.1 20'],
    ['in the headers', 'HTTP/1.1 200 OK\r\nX-A: '],
    ['before the body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    ['after an informational answer', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('%s is given up when the time is over', async (_, start) => {
    const server = await serving((_, socket) => socket.write(start))
    const { client, time } = clientOf([server])
    const result = ask(client, shop(server), { timeoutMs: 5000 })
    await server.hears(1)
    time.advance(4999)
    expect(client.connections.open).toBe(1)
    time.advance(1)
    expect(await result).toEqual({ type: 'no_answer', reason: 'timeout', durationMs: 5000 })
    await server.isLeft()
    expect(client.connections.open).toBe(0)
  })

  it('is given up when its asker gives up', async () => {
    const server = await serving(() => {})
    const { client } = clientOf([server])
    const abort = new AbortController()
    const result = client.send({ method: 'POST', url: shop(server), timeoutMs: 5000 }, abort.signal)
    await server.hears(1)
    abort.abort()
    expect(await result).toMatchObject({ type: 'no_answer', reason: 'aborted' })
    await server.isLeft()
  })

  it('is not asked by somebody who gave up before', async () => {
    const server = await serving(always(200))
    const { client } = clientOf([server])
    const result = await client.send({ method: 'POST', url: shop(server), timeoutMs: 5000 }, AbortSignal.abort())
    expect(result).toMatchObject({ type: 'not_connected', reason: 'aborted' })
    expect(server.connections).toBe(0)
  })

  it('byte by byte is given up all the same: no byte buys it time', async () => {
    const server = await serving((_, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'))
    const dripping = await serving((_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n')
      const drip = () => socket.write('a', error => error ?? setImmediate(drip))
      drip()
    })
    for (const slow of [server, dripping]) {
      const { client, time } = clientOf([slow])
      const result = ask(client, shop(slow), { timeoutMs: 3000 })
      await slow.hears(1)
      for (let second = 0; second < 3; second++) time.advance(1000)
      expect(await result).toMatchObject({ type: 'no_answer', reason: 'timeout' })
    }
  })
})

describe('a server that breaks off', () => {
  it.each([
    ['at once', ''],
    ['in the headers', 'HTTP/1.1 200 OK\r\nX-A: '],
    ['after the headers', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
    ['before the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'],
  ])('%s has not answered, and may have acted', async (_, start) => {
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const server = await serving((_, socket) => socket.write(start, () => socket[end]()))
      const { client } = clientOf([server])
      expect(await ask(client, shop(server), { method: 'POST', body: 'x' })).toMatchObject({ type: 'no_answer' })
      expect(server.heard).toHaveLength(1)
    }
  })

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['HTTP/0.9', '<html>hello</html>'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    ],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['a flood of headers', `HTTP/1.1 200 OK\r\n${`X-Flood: ${'a'.repeat(1000)}\r\n`.repeat(100)}\r\n`],
  ])('by speaking %s has not answered', async (_, bytes) => {
    const server = await serving((_, socket) => socket.end(bytes))
    const { client } = clientOf([server])
    expect(await ask(client, shop(server))).toMatchObject({ type: 'no_answer' })
  })

  it('after an answer that nobody asked for is not listened to again', async () => {
    const server = await serving((request, socket) => {
      const stray = request.connection === 1 ? answerBytes(200, 'stray') : Buffer.alloc(0)
      socket.write(Buffer.concat([answerBytes(200, `answer ${server.heard.length}`), stray]))
    })
    const { client } = clientOf([server])
    expect(said(await ask(client, shop(server)))).toEqual([200, 'answer 1'])
    await server.isLeft()
    expect(said(await ask(client, shop(server)))).toEqual([200, 'answer 2'])
  })
})

describe('a long answer', () => {
  it.each([
    ['with a length', (size: number) => answerBytes(200, 'a'.repeat(size))],
    ['until the end', (size: number) => Buffer.from(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'a'.repeat(size)}`)],
    [
      'in chunks',
      (size: number) =>
        Buffer.from(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${`1\r\na\r\n`.repeat(size)}0\r\n\r\n`),
    ],
  ])('%s is cut at the cap, and its connection closed', async (_, bytes) => {
    for (const [size, truncated] of [
      [1000, false],
      [1001, true],
    ] as const) {
      const server = await serving((_, socket) => socket.end(bytes(size)))
      const { client } = clientOf([server], { maxResponseBytes: 1000 })
      expect(await ask(client, shop(server))).toMatchObject({ status: 200, truncated, body: { length: 1000 } })
      await server.isLeft()
    }
  })

  it('is one of more than a mebibyte, and an endless one costs no more', async () => {
    const block = Buffer.alloc(65_536, 'a')
    let sent = 0
    const server = await serving((_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const more = () => {
        if (socket.destroyed) return
        sent += block.length
        socket.write(block, error => error ?? more())
      }
      more()
    })
    const { client } = clientOf([server])
    const result = await ask(client, shop(server))
    expect(result).toMatchObject({ type: 'answered', truncated: true, body: { length: 1_048_576 } })
    await server.isLeft()
    expect(sent).toBeLessThan(100_000_000)
  })
})

describe('an answer that is compressed although nobody asked', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('by %s is inflated', async (encoding, compress) => {
    const server = await serving(always(200, compress('{"a":1}'), [`Content-Encoding: ${encoding}`]))
    const { client } = clientOf([server])
    expect(said(await ask(client, shop(server)))).toEqual([200, '{"a":1}'])
    expect(server.heard[0]?.headers['accept-encoding']).toBe('identity')
  })

  it('as a bomb is inflated up to the cap', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const server = await serving(always(200, bomb, ['Content-Encoding: gzip']))
    const { client } = clientOf([server])
    const result = await ask(client, shop(server))
    expect(result).toMatchObject({ type: 'answered', truncated: true, body: { length: 1_048_576 } })
  })

  it('and cut is inflated as far as it goes', async () => {
    const text = Array.from({ length: 20_000 }, (_, n) => `line ${n * 7919}`).join('\n')
    const packed = gzipSync(text)
    const server = await serving(always(200, packed.subarray(0, packed.length - 100), ['Content-Encoding: gzip']))
    const { client } = clientOf([server])
    const result = await ask(client, shop(server))
    expect(result).toMatchObject({ type: 'answered', truncated: true })
    const body = result.type === 'answered' ? Buffer.from(result.body).toString('utf8') : ''
    expect(body.length).toBeGreaterThan(1000)
    expect(text.startsWith(body)).toBe(true)
  })

  it.each(['gzip', 'br', 'zstd', 'gzip, br', '__proto__', 'constructor'])(
    'or says so without being it (%s) stays as it is',
    async encoding => {
      const server = await serving(always(200, 'plain', [`Content-Encoding: ${encoding}`]))
      const { client } = clientOf([server])
      expect(said(await ask(client, shop(server)))).toEqual([200, 'plain'])
    },
  )
})
