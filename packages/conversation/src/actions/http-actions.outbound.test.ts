import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OutboundHttp } from '@parley/egress'
import { render } from '@parley/flow'
import { SeededRandom, VirtualTime } from '@parley/kernel'
import { expect, it, onTestFinished } from 'vitest'
import { InMemoryEffectLedger } from '../in-memory-effect-ledger.ts'
import type { ActionOutcome } from '../ports.ts'
import { call, httpAction, toItsEnd } from './actions.fixture.ts'
import { HttpActions } from './http-actions.ts'

/** A server on loopback, a runner of actions with its ledger, and whether the runner may reach the address. */
async function serverFixture(answer: (request: IncomingMessage, response: ServerResponse) => void, allowed = true) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const egress = new OutboundHttp({ allow: allowed ? [{ host: '127.0.0.1', port }] : [], time: new VirtualTime() })
  const ledger = new InMemoryEffectLedger({ random: new SeededRandom(3), wallClock: Date.now })
  const secrets = { get: async () => 'k1' }
  const time = new VirtualTime()
  const actions = new HttpActions({ egress, ledger, secrets, time, wallClock: Date.now })
  onTestFinished(async () => {
    await egress.close()
    server.closeAllConnections()
    server.close()
  })
  const run = (fields: Readonly<Record<string, unknown>>, values = {}): Promise<ActionOutcome> => {
    const running = actions.run(
      {
        action: httpAction({ url: `http://127.0.0.1:${port}/customers/{{id}}/tables`, ...fields }),
        arguments: values,
        node_id: 'booking',
        ordinal: 0,
        call,
        variables: {},
        render: text => render(text, name => (name === 'id' ? '../7' : undefined)),
        onPhase: () => {},
      },
      new AbortController().signal,
    )
    return toItsEnd(time, running)
  }
  return { run, ledger, port }
}

it('an HTTP action succeeds against a real server', async () => {
  let heard: unknown
  const { run, ledger } = await serverFixture(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    heard = [request.method, request.url, request.headers.authorization, JSON.parse(Buffer.concat(chunks).toString())]
    response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"table":12}')
  })
  const auth = { scheme: 'bearer', secret: { id: 'key', version: '1' } }
  expect(await run({ auth }, { guests: 2 })).toMatchObject({ outcome: 'succeeded', body: { table: 12 } })
  expect(heard).toEqual([
    'POST',
    '/customers/..%2F7/tables',
    'Bearer k1',
    { name: 'book_table', args: { guests: 2 }, call },
  ])
  expect(ledger.records).toMatchObject([{ state: 'succeeded', receipts: [{ status: 201, response_bytes: 12 }] }])
})

it('an HTTP action with an effect key is retried with the same key after a real server breaks the connection', async () => {
  const keys: unknown[] = []
  const { run, ledger } = await serverFixture((request, response) => {
    keys.push(request.headers['idempotency-key'])
    if (keys.length === 1) request.socket.destroy()
    else response.end('"booked"')
  })
  expect(await run({ idempotency: 'effect_key' })).toMatchObject({ outcome: 'succeeded', body: 'booked' })
  expect(keys).toEqual([ledger.records[0]!.effect_key, ledger.records[0]!.effect_key])
  expect(ledger.records).toMatchObject([{ state: 'succeeded', send_attempts: 2 }])
})

it('an HTTP action without an effect key is uncertain after a real server breaks the connection', async () => {
  let heard = 0
  const { run, ledger } = await serverFixture(request => {
    heard++
    request.socket.destroy()
  })
  expect(await run({})).toMatchObject({ outcome: 'uncertain', error_code: 'no_answer' })
  expect([heard, ledger.records[0]!.state]).toEqual([1, 'uncertain'])
})

it('an HTTP action cannot reach an internal address that is not allowed', async () => {
  let heard = 0
  const { run, ledger } = await serverFixture(() => heard++, false)
  expect(await run({})).toMatchObject({ outcome: 'failed', error_code: 'policy_denied' })
  expect(ledger.records).toMatchObject([{ decision: { decision: 'deny', reason: 'address_not_allowed' } }])
  expect(heard).toBe(0)
})

it.each([301, 302])('a POST that is answered by %i keeps its method and body on the same host', async status => {
  const heard: unknown[] = []
  const { run } = await serverFixture(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    heard.push([request.method, request.url, Buffer.concat(chunks).length > 0])
    if (request.url === '/moved') response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
    else response.writeHead(status, { location: '/moved' }).end()
  })
  expect(await run({}, { guests: 2 })).toMatchObject({ outcome: 'succeeded', body: { ok: true } })
  expect(heard).toEqual([
    ['POST', '/customers/..%2F7/tables', true],
    ['POST', '/moved', true],
  ])
})

it('a redirect to another host fails with its status', async () => {
  const { run } = await serverFixture((_request, response) =>
    response.writeHead(302, { location: 'https://elsewhere.test/' }).end(),
  )
  expect(await run({})).toMatchObject({ outcome: 'failed', error_code: 'http_302' })
})
