import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { effectRecord } from '@parley/contract'
import { AgentActions, CodeThreads } from '@parley/conversation'
import { type Egress, OutboundHttp } from '@parley/egress'
import type { Draft } from '@parley/flow'
import { systemTime } from '@parley/kernel'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DraftNode, END, planOf } from './testing/agents.ts'
import { TextHarness } from './testing/text-harness.ts'

let test: TestDatabase
let harness: TextHarness
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())

/** What the server heard. */
let heard: { readonly url: string; readonly runId: unknown }[]
let answer: RequestListener
let server: Server
let egress: OutboundHttp
beforeEach(async () => {
  heard = []
  answer = (_, response) => response.end(JSON.stringify({ order: 'A-7' }))
  server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    heard.push({ url: request.url ?? '', runId: JSON.parse(body).call?.run_id })
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  egress = new OutboundHttp({ allow: [{ host: '127.0.0.1', port: portOf(server) }], time: systemTime })
  harness = await TextHarness.open(test)
  actsThrough(egress)
  await harness.publish('orderer', planOf([PLACE, END], { actions: [order(portOf(server))] }))
})
afterEach(async () => {
  await harness.close()
  await egress.close()
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})

const NOBODY = { live: 0, permits: 0 }
const PLACE: Extract<DraftNode, { type: 'function' }> = {
  id: 'place',
  type: 'function',
  tool_id: 'order',
  edges: [],
  else_edge: { id: 'on', transition_condition: { type: 'prompt', prompt: 'Else' }, destination_node_id: 'end' },
}

function order(port: number): NonNullable<Draft['actions']>[number] {
  return {
    action_id: 'order',
    kind: 'http',
    name: 'order',
    description: 'Places an order',
    method: 'POST',
    url: `http://127.0.0.1:${port}/orders`,
  }
}

function actsThrough(way: Egress): void {
  harness.agent = async () => ({
    models: () => harness.model,
    actions: ledger =>
      new AgentActions({
        code: new CodeThreads(),
        egress: way,
        ledger,
        secrets: { get: async () => null },
        time: systemTime,
        wallClock: Date.now,
      }),
    transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
  })
}

describe('a task that acts', () => {
  it('the actions of a task stand in the effect ledger and in the timeline of its run', async () => {
    harness.worker()
    const run = await harness.run('task', 'orderer')
    expect((await harness.ended(run)).state).toBe('completed')
    expect(heard).toEqual([{ url: '/orders', runId: run }])
    const effects = await harness.effects(run)
    expect(effects).toMatchObject([
      {
        effect_kind: 'http',
        action: { id: 'order', version: 1 },
        node_id: 'place',
        ordinal: 0,
        state: 'succeeded',
        decision: { decision: 'allow' },
        send_attempts: 1,
        receipts: [{ kind: 'http', status: 200 }],
      },
    ])
    for (const effect of effects) effectRecord.parse(effect)
    expect(await harness.timeline(run)).toEqual([
      'state admitted',
      'state running',
      'node place',
      'action started',
      'action succeeded',
      'node end',
      'state ending',
      'state completed',
    ])
    expect(await harness.permits()).toEqual(NOBODY)
  })

  it('a task ends only after the result of its last action', async () => {
    const asked = Promise.withResolvers<ServerResponse>()
    answer = (_, response) => asked.resolve(response)
    const actions = [order(portOf(server))]
    await harness.publish('hasty', planOf([{ ...PLACE, wait_for_result: false }, END], { actions }))
    harness.worker()
    const run = await harness.run('task', 'hasty')
    const response = await asked.promise
    await harness.reaches(run, row => row.state === 'ending')
    response.end('{}')
    expect((await harness.ended(run)).state).toBe('completed')
    expect(await harness.effects(run)).toMatchObject([{ state: 'succeeded', receipts: [{ status: 200 }] }])
    expect((await harness.timeline(run)).slice(-2)).toEqual(['action succeeded', 'state completed'])
  })

  it('a cancelled task records unsent actions as denied', async () => {
    const preparing = Promise.withResolvers<void>()
    actsThrough({
      prepare: (_, signal) => {
        preparing.resolve()
        return new Promise(resolve =>
          signal.addEventListener('abort', () => resolve({ type: 'not_connected', reason: 'aborted', durationMs: 0 })),
        )
      },
      send: () => Promise.reject(new Error('nothing is sent')),
      close: async () => {},
    })
    harness.worker()
    const run = await harness.run('task', 'orderer')
    await preparing.promise
    await harness.cancel(run)
    expect((await harness.ended(run)).state).toBe('cancelled')
    expect(await harness.effects(run)).toMatchObject([
      {
        effect_kind: 'http',
        state: 'failed',
        error_code: 'policy_denied',
        decision: { decision: 'deny', reason: 'run_not_active' },
        send_attempts: 0,
      },
    ])
    expect(heard).toEqual([])
    expect(await harness.permits()).toEqual(NOBODY)
  })

  it('a cancelled task waits briefly for sent actions, and then records them as in doubt', async () => {
    answer = () => {}
    harness.worker()
    const run = await harness.run('task', 'orderer')
    await harness.eventually(() => heard.length === 1)
    await harness.cancel(run)
    await harness.reaches(run, row => row.state === 'ending')
    expect(await harness.effects(run)).toMatchObject([{ state: 'sending' }])
    expect((await harness.passing(harness.ended(run))).state).toBe('cancelled')
    expect(await harness.effects(run)).toMatchObject([{ state: 'uncertain', send_attempts: 1 }])
    expect(await harness.permits()).toEqual(NOBODY)
  })

  it('a task sends nothing after another process took its run', async () => {
    const preparing = Promise.withResolvers<void>()
    const prepared = Promise.withResolvers<void>()
    actsThrough({
      prepare: async (request, signal) => {
        preparing.resolve()
        await prepared.promise
        return egress.prepare(request, signal)
      },
      send: (request, signal) => egress.send(request, signal),
      close: async () => {},
    })
    const { runs } = harness.worker()
    const run = await harness.run('task', 'orderer')
    await preparing.promise
    await harness.takeOver(run, { quietly: true })
    prepared.resolve()
    await harness.eventually(() => runs.count('task') === 0)
    expect(heard).toEqual([])
    expect(await harness.effects(run)).toMatchObject([{ state: 'intended', decision: null }])
  })
})

describe('what a model was asked', () => {
  it('the request to the model stands in the ledger as the API shows it', async () => {
    harness.worker()
    await harness.publish(
      'writer',
      planOf([{ id: 'write', type: 'conversation', instruction: { type: 'prompt', text: 'W' } }]),
    )
    const run = await harness.run('task', 'writer')
    await harness.ended(run)
    const effects = await harness.effects(run)
    expect(effects).toMatchObject([{ effect_kind: 'gateway_inference', state: 'succeeded', node_id: 'write' }])
    for (const effect of effects) effectRecord.parse(effect)
  })
})

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  return body
}

function portOf(listening: Server): number {
  const address = listening.address()
  if (address === null || typeof address === 'string') throw new Error('the server is closed')
  return address.port
}
