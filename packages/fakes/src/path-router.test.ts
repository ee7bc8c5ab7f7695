import { createServer, type Server } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import WebSocket, { WebSocketServer } from 'ws'
import { PathRouter } from './path-router.ts'

const servers: Server[] = []
let router: PathRouter | null = null

afterEach(async () => {
  await router?.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function service(name: string): Promise<string> {
  const server = createServer((incoming, response) => response.end(`${name} ${incoming.method} ${incoming.url}`))
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, incoming) => {
    socket.send(`${name} ${incoming.url} ${incoming.headers.authorization}`)
    socket.on('message', data => socket.send(`${name} received ${data}`))
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('a request or socket reaches the fake that is registered for its path, with its headers', async () => {
  router = await PathRouter.open({ '/v1/listen': await service('ears'), '/v1/speak': await service('mouth') })
  const answer = await fetch(`http://127.0.0.1:${router.port}/v1/speak?a=1`, { method: 'POST', body: 'x' })
  expect(await answer.text()).toBe('mouth POST /v1/speak?a=1')
  const socket = new WebSocket(`ws://127.0.0.1:${router.port}/v1/listen`, { headers: { authorization: 'Token k' } })
  const received: string[] = []
  await new Promise<void>(resolve => {
    socket.on('message', data => {
      received.push(data.toString())
      if (received.length === 1) socket.send('hello')
      else resolve()
    })
  })
  socket.close()
  expect(received).toEqual(['ears /v1/listen Token k', 'ears received hello'])
})

it('the path router breaks off a response when the fake behind it does', async () => {
  const server = createServer((_incoming, response) => {
    response.write('half of it')
    setImmediate(() => response.destroy())
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  router = await PathRouter.open({ '/v1/chat': `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const answer = await fetch(`http://127.0.0.1:${router.port}/v1/chat`)
  await expect(answer.text()).rejects.toThrow()
})

it('the path router answers a request or a WebSocket to an unregistered path with 404', async () => {
  router = await PathRouter.open({ '/v1/listen': await service('ears') })
  expect((await fetch(`http://127.0.0.1:${router.port}/other`)).status).toBe(404)
  const socket = new WebSocket(`ws://127.0.0.1:${router.port}/other`)
  const error = await new Promise<Error>(resolve => socket.on('error', resolve))
  expect(error.message).toContain('404')
})

it('a connection of HTTP/2 reaches the fake that is registered for them, and others those of their paths', async () => {
  const http2 = createHttp2Server((request, response) => response.end(`http2 ${request.url}`))
  await new Promise<void>(resolve => http2.listen(0, '127.0.0.1', resolve))
  const { port } = http2.address() as AddressInfo
  router = await PathRouter.open({ '/v1': await service('mouth') }, { http2: `http://127.0.0.1:${port}` })
  const client = connect(`http://127.0.0.1:${router.port}`)
  const stream = client.request({ ':path': '/speak' })
  let text = ''
  for await (const piece of stream) text += piece
  expect(text).toBe('http2 /speak')
  expect(await (await fetch(`http://127.0.0.1:${router.port}/v1/voices`)).text()).toBe('mouth GET /v1/voices')
  client.destroy()
  http2.close()
})
