import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { pipelineApi } from '../testing/pipeline-api.ts'
import { Readiness } from './readiness.ts'

/** Opens a connection; `received` returns everything received so far. */
function connection(port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  let received = ''
  const ended = new Promise<void>(resolve => socket.on('close', () => resolve()))
  socket.setEncoding('latin1').on('data', piece => {
    received += piece
  })
  socket.on('error', () => {})
  return { socket, ended, received: () => received }
}

it('a closing server finishes the requests in progress and accepts no others', async () => {
  const started = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  const api = await pipelineApi({
    'environments.list': async () => {
      started.resolve()
      await mayAnswer.promise
      return { status: 200, body: { items: [], selected: 'production' } }
    },
  })
  const port = Number(new URL(api.url).port)
  const idle = connection(port)
  idle.socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(idle.received).toContain('"ok"')
  const busy = connection(port)
  busy.socket.write(
    `GET /api/v1/environments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.keys.admin}\r\nX-Request-Id: last\r\n\r\n`,
  )
  await started.promise

  const closing = api.api.close()
  await idle.ended
  expect(busy.received()).toBe('')
  const refused = connection(port)
  await refused.ended
  expect(refused.received()).toBe('')
  mayAnswer.resolve()
  await busy.ended
  expect(busy.received()).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*"selected":"production"\}$/i)
  await closing
  expect(api.logged()).toMatch(/"request_id":"last".*"status":200/)
  await api.close()
})

it('readiness ends at once when draining begins, even while the database does not answer', async () => {
  const readiness = new Readiness({ ping: () => new Promise(() => {}) })
  const waiting = readiness.reasons()
  readiness.drain()
  expect(await readiness.reasons()).toEqual(['draining'])
  void waiting
})
