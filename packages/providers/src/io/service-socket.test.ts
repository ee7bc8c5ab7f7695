import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { VirtualTime } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { ServiceSocket, type SocketEnd, socketError } from './service-socket.ts'

const open: Server[] = []

afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that does what the test says to each connection. */
async function serve(
  behave: (server: Server, sockets: WebSocketServer) => void,
): Promise<{ url: string; sockets: WebSocketServer }> {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  open.push(server)
  behave(server, sockets)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

const accepting = (server: Server, sockets: WebSocketServer) =>
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, one => sockets.emit('connection', one, request)),
  )

function connect(url: string, time = runningTime as ConstructorParameters<typeof ServiceSocket>[0]['time']) {
  const texts: string[] = []
  const end = Promise.withResolvers<SocketEnd>()
  const opened = Promise.withResolvers<void>()
  const socket = new ServiceSocket(
    { url, time, headers: { authorization: 'Token secret' } },
    {
      onOpen: () => opened.resolve(),
      onText: text => texts.push(text),
      onBinary: bytes => texts.push(`${bytes.length} bytes`),
      onEnd: end.resolve,
    },
  )
  return { socket, texts, end: end.promise, opened: opened.promise }
}

describe('a socket to a service', () => {
  it('messages given before the connection is open are sent in order, after a handshake with the headers', async () => {
    const received: string[] = []
    const done = Promise.withResolvers<void>()
    const { url } = await serve((server, sockets) => {
      accepting(server, sockets)
      sockets.on('connection', (one, request) => {
        received.push(String(request.headers.authorization))
        one.on('message', data => {
          received.push(data.toString())
          if (received.length === 3) done.resolve()
        })
      })
    })
    const { socket } = connect(url)
    socket.send('one')
    socket.send(Buffer.from('two'))
    await done.promise
    expect(received).toEqual(['Token secret', 'one', 'two'])
    socket.close()
  })

  it('a refused connection reports the reason and the Retry-After time', async () => {
    const { url } = await serve(server =>
      server.on('upgrade', (_request, socket) =>
        socket.end('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\nslow down'),
      ),
    )
    const end = await connect(url).end
    expect(end).toMatchObject({ cause: 'refused', status: 429, retryAfterMs: 7000, reason: 'slow down' })
    const codes = {
      unreachable: 'voice_unreachable',
      busy: 'voice_busy',
      refused: 'voice_refused',
      failed: 'voice_failed',
    } as const
    expect(socketError(end, 'service', codes)).toMatchObject({ code: 'voice_busy', retryable: true })
    expect(socketError({ ...end, status: 401 }, 'service', codes)).toMatchObject({
      code: 'voice_refused',
      retryable: false,
    })
    expect(socketError({ ...end, status: 500 }, 'service', codes)).toMatchObject({
      code: 'voice_unreachable',
      retryable: true,
    })
  })

  it('a refused connection reports the reason although the answer never ends', async () => {
    const { url } = await serve(server =>
      server.on('upgrade', (_request, socket) => socket.write('HTTP/1.1 401 Unauthorized\r\n\r\nwhose key is that')),
    )
    const time = new VirtualTime()
    const { end, socket } = connect(url, time)
    await expect.poll(() => time.nextDeadline()).toBe(500)
    time.advance(500)
    expect(await end).toMatchObject({ cause: 'refused', status: 401, reason: 'whose key is that' })
    expect(socket.isOver).toBe(true)
  })

  it('a refusal with an endless body is reported at once', async () => {
    const { url } = await serve(server =>
      server.on('upgrade', (_request, socket) => socket.write(`HTTP/1.1 403 Forbidden\r\n\r\n${'no '.repeat(1000)}`)),
    )
    const { end } = connect(url, new VirtualTime())
    expect(await end).toMatchObject({ cause: 'refused', status: 403 })
  })

  it('a handshake without an answer ends after its time limit', async () => {
    const { url } = await serve(server => server.on('upgrade', () => {}))
    const time = new VirtualTime()
    const { end } = connect(url, time)
    time.advance(5000)
    expect(await end).toMatchObject({ cause: 'timeout' })
  })

  it('a broken connection ends the socket once', async () => {
    const { url, sockets } = await serve(accepting)
    sockets.on('connection', one => one.terminate())
    expect(await connect(url).end).toMatchObject({ cause: 'lost' })
  })

  it('the send buffer stays bounded when the service reads nothing', async () => {
    const { url } = await serve(server => server.on('upgrade', () => {}))
    const { socket, end } = connect(url)
    for (let i = 0; i < 200; i++) socket.send(Buffer.alloc(1000))
    expect(await end).toMatchObject({ cause: 'overrun' })
  })

  it('a closed stream delivers no more events', async () => {
    const { url, sockets } = await serve(accepting)
    sockets.on('connection', one => one.on('message', () => one.send('late')))
    const { socket, opened, texts, end } = connect(url)
    let ended = false
    void end.then(() => {
      ended = true
    })
    await opened
    socket.send('x')
    socket.close()
    await new Promise(resolve => sockets.clients.values().next().value!.on('close', resolve))
    expect(texts).toEqual([])
    expect(ended).toBe(false)
  })
})
