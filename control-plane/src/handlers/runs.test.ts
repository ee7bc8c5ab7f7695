import {
  answerMessage,
  claimRun,
  finishRun,
  moveRun,
  nextMessage,
  type RunOwnership,
  settleUpdate,
  storeSipMessages,
  takeMessage,
  takeUpdates,
} from '@parley/store'
import { localBus } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { callBody, newChat } from '../testing/valid-requests.ts'
import { openWholeApi, type WholeApi } from '../testing/whole-api.ts'

let api: WholeApi
let bus: ReturnType<typeof localBus>
/** Runs with a published order: an update, a message or a cancellation. */
const ordered: string[] = []
/** Added to the time of the platform, in ms, so that no test waits for a timeout. */
let clock = 0
/** Unix ms at which the clock stands; null: it runs. */
let stoppedAt: number | null = null
beforeAll(async () => {
  bus = localBus()
  // Orders are not published, so that no process but the test answers a message.
  api = await openWholeApi({
    bus: { ...bus, publish: (topic, id) => publish(topic, id) },
    platform: { now: () => (stoppedAt ?? Date.now()) + clock },
  })
})
afterAll(() => api?.close())

function publish(topic: Parameters<typeof bus.publish>[0], id: string) {
  if (topic === 'run_orders') ordered.push(id)
  else bus.publish(topic, id)
}

const within = <Result>(work: Parameters<WholeApi['db']['database']['transaction']>[1]) =>
  api.db.database.transaction(api.scope, work) as Promise<Result>

async function claimed(run_id: string): Promise<RunOwnership> {
  const claimed = await api.db.database.transaction(api.scope, tx =>
    claimRun(tx, api.scope, run_id, { engine: 'e', worker: null }, 600_000),
  )
  const owned = { run_id, fence: claimed!.fence }
  await within(tx => moveRun(tx, api.scope, owned, { state: 'running' }))
  return owned
}

async function newCall(): Promise<string> {
  return (await api.world.call('runs.create', { body: await callBody(api.world) })).run_id
}

const OUTCOME = { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' }
const finish = async (owned: RunOwnership) => {
  await within(tx =>
    finishRun(tx, api.scope, owned, { state: 'completed', outcome: OUTCOME, disposition: 'completed' }),
  )
  bus.publish('runs', owned.run_id)
}
const changesOf = (run_id: string) => bus.published.filter(([topic, id]) => topic === 'runs' && id === run_id).length

describe('POST /runs/{run_id}/cancel', () => {
  it('cancelling a run that no process has started ends it at once and notifies', async () => {
    const run_id = await newChat(api.world)
    const { status, body } = await api.send('runs.cancel', { params: { run_id } })
    expect([status, body.state, body.disposition]).toEqual([202, 'cancelled', 'cancelled'])
    expect(changesOf(run_id)).toBe(1)
    const again = await api.send('runs.cancel', { params: { run_id } })
    expect([again.status, again.body]).toEqual([202, body])
    expect(changesOf(run_id)).toBe(1)
  })

  it('cancelling a running run asks its owner, and the run ends as cancelled whatever the owner reports', async () => {
    const run_id = await newChat(api.world)
    const owned = await claimed(run_id)
    expect((await api.send('runs.cancel', { params: { run_id } })).body.state).toBe('running')
    expect(ordered).toContain(run_id)
    await finish(owned)
    expect(await api.world.call('runs.get', { params: { run_id } })).toMatchObject({
      state: 'cancelled',
      outcome: { kind: 'cancelled', ended_by: 'operator' },
    })
  })

  it('cancelling an ended run changes nothing', async () => {
    const run_id = await newChat(api.world)
    await finish(await claimed(run_id))
    expect((await api.send('runs.cancel', { params: { run_id } })).body.state).toBe('completed')
  })

  it('revoking a key cancels the runs that it created and that have not started', async () => {
    const { secret, key_id } = await api.world.call('keys.create', { body: { name: 'k', role: 'member' } })
    const { body } = await api.send(
      'runs.create',
      { body: { agent_id: await agentOf(), channel: 'cloud', mode: 'chat' } },
      { key: secret },
    )
    const other = await newChat(api.world)
    await api.world.call('keys.revoke', { params: { key_id } })
    const state = async (run_id: string) => (await api.world.call('runs.get', { params: { run_id } })).state
    expect([await state(body.run_id), await state(other)]).toEqual(['cancelled', 'admitted'])
    expect(changesOf(body.run_id)).toBe(1)
  })
})

async function agentOf(): Promise<string> {
  return (await api.world.call('runs.get', { params: { run_id: await newChat(api.world) } })).agent_id
}

it('GET /runs filters by time with any UTC offset', async () => {
  const run_id = await newChat(api.world)
  const listed = async (query: object) => {
    const { items } = await api.world.call('runs.list', { query: { limit: 1, ...query } })
    return items.map((run: { run_id: string }) => run.run_id)
  }
  expect(await listed({ after: '2026-01-01T00:00:00-19:07', before: '2999-01-01T00:00:00+23:59' })).toEqual([run_id])
  expect(await listed({ before: '2026-01-01T00:00:00+17:00' })).toEqual([])
})

describe('GET /runs/{run_id}/ladder', () => {
  const sip = {
    at: '2026-01-02T03:04:05.678Z',
    direction: 'in',
    transport: 'tls',
    source: '192.0.2.1:5061',
    destination: '192.0.2.2:5061',
  } as const

  it('the ladder of a run has its SIP messages in order and says whether some are missing', async () => {
    const run_id = await newCall()
    const owned = await claimed(run_id)
    const ladder = () => api.world.call('runs.ladder', { params: { run_id } })
    expect(await ladder()).toEqual({ items: [], truncated: false })
    const messages = [
      { ...sip, place: 1, message: 'INVITE' },
      { ...sip, place: 2, message: 'ACK' },
    ]
    await within(tx => storeSipMessages(tx, api.scope, owned, messages))
    const items = messages.map(({ place: _place, ...item }) => item)
    expect(await ladder()).toEqual({ items, truncated: false })
    await within(tx => storeSipMessages(tx, api.scope, owned, [{ ...sip, place: 3, message: null }]))
    expect(await ladder()).toEqual({ items, truncated: true })
  })

  it('the ladder of an unknown run is answered 404', async () => {
    const { status } = await api.send('runs.ladder', { params: { run_id: crypto.randomUUID() } })
    expect(status).toBe(404)
  })
})

describe('PATCH /runs/{run_id}', () => {
  const update = (run_id: string, body: object, key?: string) =>
    api.send('runs.update', { params: { run_id }, body }, key === undefined ? {} : { idempotencyKey: key })
  const CHANGE = { override_dynamic_variables: { name: 'Bea' } }

  it('an update of a run without an owner applies at once', async () => {
    const run_id = await newCall()
    const { status, body } = await update(run_id, { ...CHANGE, metadata: null })
    expect([status, body.update.status, body.update.applied, body.update.revision]).toEqual([200, 'applied', true, 1])
    expect(await api.world.call('runs.get', { params: { run_id } })).toMatchObject({
      dynamic_variables: { name: 'Bea' },
      metadata: null,
    })
  })

  it('an update that the agent applies in time is answered with the result', async () => {
    const run_id = await newCall()
    const owned = await claimed(run_id)
    stoppedAt = Date.now()
    onTestFinished(() => {
      stoppedAt = null
    })
    const updating = update(run_id, CHANGE, 'update-in-time')
    await expect.poll(() => ordered.includes(run_id)).toBe(true)
    await within(tx => settleUpdate(tx, api.scope, owned, 1, { status: 'applied' }))
    bus.publish('runs', run_id)
    const { status, body } = await updating
    expect([status, body.update.status, body.update.applied]).toEqual([200, 'applied', true])
  })

  it('an update is answered 202 after half a second, and its repetition shows the later result', async () => {
    const run_id = await newCall()
    const owned = await claimed(run_id)
    const first = await update(run_id, CHANGE, 'update-late')
    expect([first.status, first.body.update.status, first.body.update.applied]).toEqual([202, 'acknowledged', false])
    await within(tx => settleUpdate(tx, api.scope, owned, 1, { status: 'rejected', reason: 'too_many_variables' }))
    const again = await update(run_id, CHANGE, 'update-late')
    expect(again.status).toBe(200)
    expect(again.body.update).toMatchObject({ status: 'rejected', reason: 'too_many_variables', revision: 1 })
    expect((await update(run_id, CHANGE)).body.update.revision).toBe(2)
  })

  it('the receipt of an update shows each status on the way to its end, and what its engine never settled is indeterminate', async () => {
    const run_id = await newCall()
    const owned = await claimed(run_id)
    const receipt = async () => {
      const { status, body } = await update(run_id, CHANGE, 'update-by-step')
      return [status, body.update.status, body.update.applied, body.update.reason]
    }
    expect(await receipt()).toEqual([202, 'acknowledged', false, null])
    await within(tx => takeUpdates(tx, api.scope, owned))
    expect(await receipt()).toEqual([202, 'applying', false, null])
    await api.db.owner.query('update parley.run_updates set deadline = now() where run_id = $1', [run_id])
    await api.db.database.runs.expireUpdates(100)
    expect(await receipt()).toEqual([200, 'indeterminate', false, 'deadline'])
  })

  it('only live phone runs can be updated', async () => {
    const chat = await newChat(api.world)
    expect((await update(chat, CHANGE)).body.error.details.reason).toBe('channel_not_supported')
    const call = await newCall()
    await api.world.call('runs.cancel', { params: { run_id: call } })
    expect((await update(call, CHANGE)).body.error).toMatchObject({
      code: 'run_not_active',
      details: { reason: 'run_ended' },
    })
    expect((await update(call, {})).status).toBe(400)
  })
})

describe('POST /runs/{run_id}/messages', () => {
  const sendMessage = (run_id: string, text: string, key?: string) =>
    api.send('runs.message', { params: { run_id }, body: { text } }, key === undefined ? {} : { idempotencyKey: key })
  const UTTERANCE = {
    index: 0,
    role: 'user',
    text: 'Hello?',
    segment_id: 's',
    observed_offset_ms: null,
    interrupted: false,
    start_ms: null,
    end_ms: null,
    node_id: null,
  }
  const posted = async (owned: RunOwnership) => {
    const look = () => nextMessage(api.db.database.within(api.scope), api.scope, owned)
    await expect.poll(look).not.toBeNull()
    return (await look())!
  }
  const answer = async (owned: RunOwnership, message_id: string) => {
    await within(tx => takeMessage(tx, api.scope, owned, message_id))
    await within(tx => answerMessage(tx, api.scope, owned, message_id, { state: 'running', utterances: [UTTERANCE] }))
  }

  it('a message is answered with the turn of the agent', async () => {
    const owned = await claimed(await newChat(api.world))
    const sending = sendMessage(owned.run_id, 'Hello?')
    const message = await posted(owned)
    expect(message.text).toBe('Hello?')
    expect((await sendMessage(owned.run_id, 'And?')).body.error).toMatchObject({
      code: 'conflict',
      retryable: true,
      details: { reason: 'turn_in_progress' },
    })
    await answer(owned, message.message_id)
    const { status, body } = await sending
    expect([status, body]).toEqual([200, { run_id: owned.run_id, state: 'running', utterances: [UTTERANCE] }])
  })

  it('a message without an answer for a minute gets outcome_unknown, and its repetition gets the later answer', async () => {
    const owned = await claimed(await newChat(api.world))
    const sending = sendMessage(owned.run_id, 'Hello?', 'late-turn')
    const { message_id } = await posted(owned)
    clock += 61_000
    const { status, body } = await sending
    expect([status, body.error.code, body.error.outcome]).toEqual([504, 'outcome_unknown', 'unknown'])
    const again = sendMessage(owned.run_id, 'Hello?', 'late-turn')
    await answer(owned, message_id)
    expect(await again).toMatchObject({ status: 200, body: { utterances: [UTTERANCE] } })
    expect(await sendMessage(owned.run_id, 'Hello?', 'late-turn')).toMatchObject({
      status: 200,
      body: { utterances: [UTTERANCE] },
    })
    const { rows } = await api.db.owner.query('select count(*)::int as n from parley.run_messages where run_id = $1', [
      owned.run_id,
    ])
    expect(rows[0].n).toBe(1)
  })

  it('a repeated message finds its answer when the process that waited for it has died', async () => {
    const owned = await claimed(await newChat(api.world))
    const sending = sendMessage(owned.run_id, 'Hello?', 'dead-process')
    await answer(owned, (await posted(owned)).message_id)
    expect((await sending).status).toBe(200)
    // The state that the dead process left behind.
    const { rowCount } = await api.db.owner.query(
      "update parley.idempotency set status = null, answer = null, intent = '{}', lease_until = now() - interval '1 s' where key = 'dead-process'",
    )
    expect(rowCount).toBe(1)
    expect(await sendMessage(owned.run_id, 'Hello?', 'dead-process')).toMatchObject({
      status: 200,
      body: { utterances: [UTTERANCE] },
    })
  })

  it('a message that was not answered before the run ended is refused', async () => {
    const owned = await claimed(await newChat(api.world))
    const sending = sendMessage(owned.run_id, 'Hello?')
    await posted(owned)
    await finish(owned)
    expect((await sending).body.error).toMatchObject({ code: 'run_not_active', details: { reason: 'run_ended' } })
    expect((await sendMessage(owned.run_id, 'Hello?')).body.error.code).toBe('run_not_active')
  })

  it('messages are accepted by chats only', async () => {
    expect((await sendMessage(await newCall(), 'Hello?')).body.error.details.reason).toBe('mode_not_supported')
  })
})

it('a transcript holds what was said so far, is absent for a run that never started, and is empty after retention', async () => {
  const run_id = await newChat(api.world)
  const read = () => api.world.call('runs.transcript', { params: { run_id } })
  expect(await read()).toEqual({ run_id, state: 'not_available', utterances: [], checkpoint: null, content: null })
  await claimed(run_id)
  expect((await read()).state).toBe('partial')
  await api.db.owner.query(
    `insert into parley.run_transcripts (tenant_id, run_id, state, final, utterances) values ($1, $2, 'expired', true, '[{"index": 0}]')`,
    [api.scope.tenant_id, run_id],
  )
  expect(await read()).toMatchObject({ state: 'expired', utterances: [] })
})

describe('GET /usage and PUT /usage/budget', () => {
  const summary = (from: string, to: string) => api.send('usage.summary', { query: { group_by: 'day', from, to } })

  it('usage counts runs by creation time in a window of at most 366 days', async () => {
    await newChat(api.world)
    const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString()
    const { body } = await summary(day(-1), day(1))
    expect(body).toMatchObject({ group_by: 'day', purpose: 'billable', completeness: 'partial' })
    expect(body.rows.at(-1)).toMatchObject({ cost: { currency: 'USD' } })
    const wrong = await summary('2026-01-01T00:00:00Z', '2027-01-03T00:00:00Z')
    expect([wrong.status, wrong.body.error.details.issues[0].path]).toEqual([400, '/to'])
    expect((await summary('2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')).status).toBe(400)
  })

  it('usage counts only the runs with the contacts that are asked for', async () => {
    const own = await claimed(await newChat(api.world))
    await finish(own)
    await api.db.owner.query(`update parley.runs set contact = 'voicemail' where run_id = $1`, [own.run_id])
    const now = Date.now()
    const [from, to] = [now - 3_600_000, now + 3_600_000].map(at => new Date(at).toISOString())
    const runs = async (contact: string) => {
      const query = { group_by: 'run', from: from!, to: to!, contact }
      const { body } = await api.send('usage.summary', { query })
      return (body.rows as { key: string }[]).map(({ key }) => key)
    }
    expect(await runs('voicemail,ivr')).toContain(own.run_id)
    expect(await runs('human')).not.toContain(own.run_id)
    expect(
      (await api.send('usage.summary', { query: { group_by: 'run', from: from!, to: to!, contact: 'robot' } })).status,
    ).toBe(400)
  })

  it('a budget cap is refused when the named policy is not current, or when there is no rate card', async () => {
    const { policy_id } = await api.world.call('budgets.get', {})
    const put = (expected_policy_id: string, as = {}) =>
      api.send('budgets.update', { body: { cap_usd: '500', expected_policy_id } }, as)
    expect((await put(policy_id)).body).toMatchObject({ cap_usd: '500', configured: true })
    const stale = await put(policy_id)
    expect(stale.body.error.details).toMatchObject({ reason: 'stale_revision', current: {} })
    expect(stale.body.error.details.current.policy_id).not.toBe(policy_id)
    const bare = await put('p', { key: api.keys.sandboxAdmin })
    expect(bare.body.error.details.reason).toBe('pricing_not_installed')
    const none = await api.send('usage.rate_card', {}, { key: api.keys.sandboxAdmin })
    expect(none.body).toMatchObject({ configured: false, rates: [] })
    expect(await api.world.call('usage.rate_card', {})).toMatchObject({
      configured: true,
      rate_card_id: 'of-the-tests',
    })
  })
})
