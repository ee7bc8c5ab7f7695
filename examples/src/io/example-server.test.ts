import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MONDAY } from '../testing/walk.ts'
import { ExampleServer, type ExampleServerOptions } from './example-server.ts'

async function open(options: ExampleServerOptions = {}): Promise<ExampleServer> {
  const server = await ExampleServer.open({ wallClock: () => MONDAY, ...options })
  onTestFinished(() => server.close())
  return server
}

async function ask(server: ExampleServer, path: string, init: RequestInit = {}) {
  const response = await fetch(server.origin + path, { signal: AbortSignal.timeout(5000), ...init })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers,
})

const BOOKING = { slot: '2026-11-24T09:30', patient: '1042' }

describe('the example server', () => {
  it('the server serves clinic and pizzeria and lists bookings and orders', async () => {
    const server = await open()
    expect((await ask(server, '/clinic/days')).body.message).toBe('I have Tuesday, Wednesday or Thursday.')
    expect((await ask(server, '/clinic/patients?key=1042')).body).toMatchObject({ known: true, name: 'Ada' })
    await ask(server, '/clinic/bookings', post(BOOKING))
    const order = { pizza: 'vegetal', size: 'pequeña', count: '1', address: 'Calle Mayor 5' }
    await ask(server, '/pizza/orders', post(order))
    await ask(server, '/clinic/callbacks', post({ args: { patient: '1042' }, call: { from_number: null } }))
    expect(server.bookings).toEqual([BOOKING])
    expect(server.orders).toMatchObject([{ number: '101', pizza: 'vegetal' }])
    expect(server.callbacks).toEqual([{ number: null, patient: '1042' }])
  })

  it('a time is booked once, and a repeated request gets the same answer', async () => {
    const server = await open()
    const repeated = post(BOOKING, { 'idempotency-key': 'effect-1' })
    const first = await ask(server, '/clinic/bookings', repeated)
    expect(first.status).toBe(201)
    expect(await ask(server, '/clinic/bookings', repeated)).toEqual(first)
    expect((await ask(server, '/clinic/bookings', post(BOOKING))).status).toBe(409)
    expect(server.bookings.length).toBe(1)
  })

  it.each([
    ['/', {}, 404, 'The clinic does not know what that is.'],
    ['/pizza/constructor', {}, 404, 'La pizzería no sabe qué es eso.'],
    ['/clinic/days', post({}), 404, 'The clinic does not know what that is.'],
    ['/clinic/bookings', post('{'), 400, 'The clinic could not read that.'],
    ['/clinic/bookings', post([BOOKING]), 400, 'The clinic could not read that.'],
    ['/pizza/orders', post('x'.repeat(20_000)), 413, 'Eso es demasiado largo para la pizzería.'],
    [
      '/clinic/bookings',
      post(`{"slot":${'['.repeat(7000)}${']'.repeat(7000)}}`, { 'idempotency-key': 'k' }),
      422,
      null,
    ],
  ])(
    'an invalid request to %s (%#) is refused with a message that can be spoken',
    async (path, init, status, message) => {
      const server = await open()
      const answer = await ask(server, path, init)
      expect(answer.status).toBe(status)
      if (message === null) expect(answer.body.message).toEqual(expect.any(String))
      else expect(answer.body.message).toBe(message)
      expect((await ask(server, '/clinic/days')).status).toBe(200)
    },
  )

  it('the server survives an aborted request and bytes that are not HTTP', async () => {
    const server = await open()
    const { port } = new URL(server.origin)
    for (const text of ['POST /clinic/bookings HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{', 'hello\r\n\r\n'])
      await new Promise<void>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.end(text))
        socket
          .on('close', () => resolve())
          .on('error', reject)
          .resume()
      })
    expect((await ask(server, '/clinic/days')).status).toBe(200)
  })

  it('an internal error is answered with status 500', async () => {
    const server = await open({
      wallClock: () => {
        throw new Error('no clock')
      },
    })
    expect(await ask(server, '/clinic/days')).toEqual({ status: 500, body: { message: 'The clinic has a problem.' } })
  })

  it('the server listens on the given port and rejects if it is in use', async () => {
    const server = await open()
    const port = Number(new URL(server.origin).port)
    await expect(ExampleServer.open({ port })).rejects.toThrow('EADDRINUSE')
    await server.close()
    const next = await open({ port })
    expect(next.origin).toBe(server.origin)
    await next.close()
    await next.close()
  })
})
