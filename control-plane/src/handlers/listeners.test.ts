import { settleListener, takeListenerOffers } from '@parley/store'
import { localBus } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishedAgent } from '../testing/request-world.ts'
import { LISTENER_OFFER, newChat } from '../testing/valid-requests.ts'
import { openWholeApi, type WholeApi } from '../testing/whole-api.ts'

let api: WholeApi
/** Runs whose engine was notified of an offer. */
const notified: string[] = []
beforeAll(async () => {
  const bus = localBus()
  api = await openWholeApi({
    bus: {
      ...bus,
      publish(topic, id) {
        if (topic === 'listeners') notified.push(id)
        bus.publish(topic, id)
      },
    },
  })
})
afterAll(() => api?.close())

const within = <Result>(work: Parameters<WholeApi['db']['database']['transaction']>[1]) =>
  api.db.database.transaction(api.scope, work) as Promise<Result>

async function webRun(): Promise<string> {
  const { agent_id } = await publishedAgent(api.world)
  return (await api.world.call('runs.create', { body: { agent_id, channel: 'web', mode: 'inbound' } })).run_id
}

const listen = (run_id: string, offer = LISTENER_OFFER) =>
  api.send('runs.listen', { params: { run_id }, body: { offer } })
const read = async (run_id: string, listener_id: string) =>
  (await api.send('runs.listener', { params: { run_id, listener_id } })).body

describe('listening to a live call', () => {
  it('the offer reaches the engine of the call once, and its answer the browser', async () => {
    const run_id = await webRun()
    const { status, body } = await listen(run_id)
    expect([status, body]).toEqual([
      201,
      { listener_id: expect.any(String), run_id, state: 'waiting', answer: null, refusal: null },
    ])
    expect(notified.at(-1)).toBe(run_id)
    const { listener_id } = body
    const take = () => within<readonly object[]>(tx => takeListenerOffers(tx, api.scope, run_id))
    expect(await take()).toEqual([{ listener_id, offer: LISTENER_OFFER }])
    expect(await take()).toEqual([])
    await within(tx => settleListener(tx, api.scope, { listener_id, run_id }, { answer: 'v=0' }))
    expect(await read(run_id, listener_id)).toMatchObject({ state: 'answered', answer: 'v=0' })
    const { items } = await api.world.call('audit.list', { query: {} })
    expect(items[0]).toMatchObject({ action: 'runs.listen', outcome: 'allowed', resource: { kind: 'run', id: run_id } })
  })

  it('an offer that no engine has answered after 15 s is refused', async () => {
    const run_id = await webRun()
    const { listener_id } = (await listen(run_id)).body
    await api.db.owner.query(
      "update parley.call_listeners set created_at = created_at - interval '16 s' where listener_id = $1",
      [listener_id],
    )
    expect(await read(run_id, listener_id)).toMatchObject({
      state: 'refused',
      refusal: 'no engine has answered the offer in time',
    })
  })

  it('an environment that permits no listening refuses it, and the refusal is audited', async () => {
    const run_id = await webRun()
    await api.world.call('tenant_settings.update', { body: { listening_enabled: false } })
    expect(await listen(run_id)).toMatchObject({
      status: 403,
      body: { error: { code: 'policy_denied', details: { reason: 'listening_disabled' } } },
    })
    const { items } = await api.world.call('audit.list', { query: {} })
    expect(items[0]).toMatchObject({ action: 'runs.listen', outcome: 'denied' })
    const settings = await api.world.call('tenant_settings.update', { body: { listening_enabled: true } })
    expect(settings.listening_enabled).toBe(true)
    expect((await listen(run_id)).status).toBe(201)
  })

  it('chats, runs that are over, and what is no offer are refused', async () => {
    expect((await listen(await newChat(api.world))).body.error.details.reason).toBe('channel_not_supported')
    const run_id = await webRun()
    const { status, body } = await listen(run_id, 'v=0\r\n')
    expect([status, body.error.details.issues[0].path]).toEqual([400, '/offer'])
    const { listener_id } = (await listen(run_id)).body
    await api.world.call('runs.cancel', { params: { run_id } })
    expect((await listen(run_id)).body.error.code).toBe('run_not_active')
    expect((await api.send('runs.listener', { params: { run_id, listener_id } })).status).toBe(404)
  })
})

describe('what web calls leave', () => {
  const row = async (run_id: string) => {
    const { rows } = await api.db.owner.query(
      'select offer, answer, candidates from parley.web_calls where run_id = $1',
      [run_id],
    )
    return rows[0]
  }

  it('the signalling of a call is removed when it ends, and the row of the call 25 hours after it began', async () => {
    const old = await webRun()
    await api.db.owner.query(
      "update parley.web_calls set attempt = 1, offer = 'o', answer = 'a', candidates = '{c}' where run_id = $1",
      [old],
    )
    const live = await webRun()
    await api.world.call('runs.cancel', { params: { run_id: old } })
    expect(await row(old)).toEqual({ offer: null, answer: null, candidates: [] })
    await api.db.owner.query(
      "update parley.web_calls set created_at = created_at - interval '26 hours' where run_id = any($1)",
      [[old, live]],
    )
    const next = await webRun()
    await api.world.call('runs.cancel', { params: { run_id: next } })
    expect(await row(old)).toBeUndefined()
    // A call that goes on keeps its row, however old it is.
    expect(await row(live)).toBeDefined()
    expect(await row(next)).toBeDefined()
  })
})
