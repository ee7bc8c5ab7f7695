import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { always } from '../testing/local-server.ts'
import { clientOf, closeAll, send, serving, statusAndText, urlOf } from './outbound-http.fixture.ts'

const pem = (name: string) => readFileSync(new URL(`fixtures/${name}.pem`, import.meta.url), 'utf8')
const ca = pem('authority')

afterEach(closeAll)

describe('https', () => {
  it('https reaches a server whose certificate is valid and signed by a trusted authority', async () => {
    const server = await serving(always(200, 'safe'), { tls: pem('shop') })
    const { client } = clientOf([server], { ca })
    expect(statusAndText(await send(client, urlOf(server, '/', 'https')))).toEqual([200, 'safe'])
    expect(statusAndText(await send(client, urlOf(server, '/', 'https')))).toEqual([200, 'safe'])
    expect(server.connections).toBe(1)
    expect(server.requests[0]?.headers.host).toBe(`shop.test:${server.port}`)
  })

  it('https sends the host name of the URL as SNI', async () => {
    const server = await serving(always(200, 'other'), { tls: pem('other') })
    const { client } = clientOf([], { ca, allow: [{ host: 'other.test', port: server.port }] })
    expect(statusAndText(await send(client, `https://other.test:${server.port}/`))).toEqual([200, 'other'])
  })

  it('https accepts an IP address that the certificate contains', async () => {
    const server = await serving(always(200, 'safe'), { tls: pem('shop') })
    const { client } = clientOf([], { ca, allow: [{ host: '127.0.0.1', port: server.port }] })
    expect(statusAndText(await send(client, `https://127.0.0.1:${server.port}/`))).toEqual([200, 'safe'])
  })

  it('https treats a host name with a trailing dot like the name without it', async () => {
    const server = await serving(always(200, 'safe'), { tls: pem('shop') })
    const { client } = clientOf([server], { ca })
    expect(statusAndText(await send(client, `https://shop.test.:${server.port}/`))).toEqual([200, 'safe'])
  })

  it('https sends nothing to a server with a certificate for another name', async () => {
    const server = await serving(always(200), { tls: pem('other') })
    const { client } = clientOf([server], { ca })
    const result = await send(client, urlOf(server, '/', 'https'), { method: 'POST', body: 'secret' })
    expect(result).toMatchObject({ type: 'not_connected', reason: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    expect(server.requests).toEqual([])
  })

  it('https sends nothing to a server whose certificate is signed by an unknown authority', async () => {
    const server = await serving(always(200), { tls: pem('shop') })
    const { client } = clientOf([server])
    const result = await send(client, urlOf(server, '/', 'https'), { method: 'POST', body: 'secret' })
    expect(result).toMatchObject({ type: 'not_connected', reason: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    expect(server.requests).toEqual([])
  })

  it('https yields not_connected if the server does not speak TLS', async () => {
    const { port } = await plain(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const { client } = clientOf([], { allow: [{ host: 'shop.test', port }] })
    const result = await send(client, `https://shop.test:${port}/`, { method: 'POST', body: 'secret' })
    expect(result).toMatchObject({ type: 'not_connected' })
  })

  it('https ends a handshake that does not finish at the connect timeout', async () => {
    const { port, contacted } = await plain(() => {})
    const { client, time } = clientOf([], { allow: [{ host: 'shop.test', port }], connectTimeoutMs: 400 })
    const result = send(client, `https://shop.test:${port}/`, { timeoutMs: 60_000 })
    await contacted
    time.advance(400)
    expect(await result).toEqual({ type: 'not_connected', reason: 'connect timeout', durationMs: 400 })
  })
})

/** A TCP server that calls `answer` for each connection that sends data. */
async function plain(answer: (socket: Socket) => void): Promise<{ port: number; contacted: Promise<void> }> {
  const { promise: contacted, resolve } = Promise.withResolvers<void>()
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      answer(socket)
      resolve()
    })
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, contacted }
}
