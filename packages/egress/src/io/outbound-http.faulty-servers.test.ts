import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { always, answerBytes } from '../testing/local-server.ts'
import { clientOf, closeAll, send, serving, statusAndText, urlOf } from './outbound-http.fixture.ts'

afterEach(closeAll)

describe('a server that hangs', () => {
  it.each([
    ['before the first byte', ''],
    ['in the status line', 'HTTP/1.1 20'],
    ['in the headers', 'HTTP/1.1 200 OK\r\nX-A: '],
    ['before the body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    ['after an informational answer', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('%s leads to no_answer at the timeout', async (_, start) => {
    const server = await serving((_, socket) => socket.write(start))
    const { client, time } = clientOf([server])
    const result = send(client, urlOf(server), { timeoutMs: 5000 })
    await server.received(1)
    time.advance(4999)
    expect(client.connections.open).toBe(1)
    time.advance(1)
    expect(await result).toEqual({ type: 'no_answer', reason: 'timeout', durationMs: 5000 })
    await server.allClosed()
    expect(client.connections.open).toBe(0)
  })

  it('a server that hangs leads to no_answer at the abort', async () => {
    const server = await serving(() => {})
    const { client } = clientOf([server])
    const abort = new AbortController()
    const result = client.send({ method: 'POST', url: urlOf(server), timeoutMs: 5000 }, abort.signal)
    await server.received(1)
    abort.abort()
    expect(await result).toMatchObject({ type: 'no_answer', reason: 'aborted' })
    await server.allClosed()
  })

  it('a server that hangs receives nothing if the request was aborted before', async () => {
    const server = await serving(always(200))
    const { client } = clientOf([server])
    const result = await client.send({ method: 'POST', url: urlOf(server), timeoutMs: 5000 }, AbortSignal.abort())
    expect(result).toMatchObject({ type: 'not_connected', reason: 'aborted' })
    expect(server.connections).toBe(0)
  })

  it('a server that hangs leads to no_answer at the timeout although it sends single bytes', async () => {
    const server = await serving((_, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'))
    const dripping = await serving((_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n')
      const drip = () => socket.write('a', error => error ?? setImmediate(drip))
      drip()
    })
    for (const slow of [server, dripping]) {
      const { client, time } = clientOf([slow])
      const result = send(client, urlOf(slow), { timeoutMs: 3000 })
      await slow.received(1)
      for (let second = 0; second < 3; second++) time.advance(1000)
      expect(await result).toMatchObject({ type: 'no_answer', reason: 'timeout' })
    }
  })
})

describe('a server that closes the connection', () => {
  it.each([
    ['at once', ''],
    ['in the headers', 'HTTP/1.1 200 OK\r\nX-A: '],
    ['after the headers', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ['in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
    ['before the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'],
  ])('%s leads to no_answer, because it may have acted', async (_, start) => {
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const server = await serving((_, socket) => socket.write(start, () => socket[end]()))
      const { client } = clientOf([server])
      expect(await send(client, urlOf(server), { method: 'POST', body: 'x' })).toMatchObject({ type: 'no_answer' })
      expect(server.requests).toHaveLength(1)
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
  ])('with %s leads to no_answer', async (_, bytes) => {
    const server = await serving((_, socket) => socket.end(bytes))
    const { client } = clientOf([server])
    expect(await send(client, urlOf(server))).toMatchObject({ type: 'no_answer' })
  })

  it('after an unrequested answer is contacted over a new connection', async () => {
    const server = await serving((request, socket) => {
      const stray = request.connection === 1 ? answerBytes(200, 'stray') : Buffer.alloc(0)
      socket.write(Buffer.concat([answerBytes(200, `answer ${server.requests.length}`), stray]))
    })
    const { client } = clientOf([server])
    expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, 'answer 1'])
    await server.allClosed()
    expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, 'answer 2'])
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
  ])('%s is truncated at the limit, and its connection is closed', async (_, bytes) => {
    for (const [size, truncated] of [
      [1000, false],
      [1001, true],
    ] as const) {
      const server = await serving((_, socket) => socket.end(bytes(size)))
      const { client } = clientOf([server], { maxResponseBytes: 1000 })
      expect(await send(client, urlOf(server))).toMatchObject({ status: 200, truncated, body: { length: 1000 } })
      await server.allClosed()
    }
  })

  it('an answer is cut at 1 MiB by default, and an endless answer needs no more memory', async () => {
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
    const result = await send(client, urlOf(server))
    expect(result).toMatchObject({ type: 'answered', truncated: true, body: { length: 1_048_576 } })
    await server.allClosed()
    expect(sent).toBeLessThan(100_000_000)
  })
})

describe('an answer that is compressed without a request for it', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('with %s is decompressed', async (encoding, compress) => {
    const server = await serving(always(200, compress('{"a":1}'), [`Content-Encoding: ${encoding}`]))
    const { client } = clientOf([server])
    expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, '{"a":1}'])
    expect(server.requests[0]?.headers['accept-encoding']).toBe('identity')
  })

  it('a decompression bomb in an answer is decompressed up to the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const server = await serving(always(200, bomb, ['Content-Encoding: gzip']))
    const { client } = clientOf([server])
    const result = await send(client, urlOf(server))
    expect(result).toMatchObject({ type: 'answered', truncated: true, body: { length: 1_048_576 } })
  })

  it('a compressed answer that is truncated is decompressed as far as possible', async () => {
    const text = Array.from({ length: 20_000 }, (_, n) => `line ${n * 7919}`).join('\n')
    const packed = gzipSync(text)
    const server = await serving(always(200, packed.subarray(0, packed.length - 100), ['Content-Encoding: gzip']))
    const { client } = clientOf([server])
    const result = await send(client, urlOf(server))
    expect(result).toMatchObject({ type: 'answered', truncated: true })
    const body = result.type === 'answered' ? Buffer.from(result.body).toString('utf8') : ''
    expect(body.length).toBeGreaterThan(1000)
    expect(text.startsWith(body)).toBe(true)
  })

  it.each(['gzip', 'br', 'zstd', 'gzip, br', '__proto__', 'constructor'])(
    'a compressed answer that has an unsupported or wrong encoding (%s) is returned unchanged',
    async encoding => {
      const server = await serving(always(200, 'plain', [`Content-Encoding: ${encoding}`]))
      const { client } = clientOf([server])
      expect(statusAndText(await send(client, urlOf(server)))).toEqual([200, 'plain'])
    },
  )
})
