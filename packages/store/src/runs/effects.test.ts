import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../io/database.ts'
import { readAddress } from '../io/owner-connection.ts'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { type EffectIntention, runLedger } from './effect-ledger.ts'
import { effectIdOf, type InferenceEffect, listEffects, recordInference, type StoredDecision } from './effects.ts'
import { cancelRun, finishRun } from './finish.ts'
import { takeWebhooks } from './outbox.ts'
import { moveRun } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'
import { CHAT, CHAT_OVER, letLeaseEnd, owned, REAPER, workspace } from './runs.fixture.ts'

let test: TestDatabase
let scope: Scope
let keys = 0
beforeAll(async () => {
  test = await testDatabase()
  scope = await workspace(test, { capacity: 10_000 })
})
afterAll(() => test?.close())

const HTTP: EffectIntention = { kind: 'http', action: { id: 'book', version: 3 }, node_id: 'booking', ordinal: 0 }
const HANGUP: EffectIntention = { ...HTTP, kind: 'sip_hangup' }
const ALLOW: StoredDecision = { decision: 'allow', reason: null, policy_version: '1' }
const DENY: StoredDecision = { decision: 'deny', reason: 'address_not_allowed', policy_version: '1' }
const UNAVAILABLE: StoredDecision = { decision: 'unavailable', reason: null, policy_version: '1' }

const within = <Result>(work: (tx: Queries) => Promise<Result>) => test.database.transaction(scope, work)
const ledgerOf = (run: RunOwnership) => runLedger(test.database, scope, run, () => `key-${keys++}`)

/** A live run and its ledger. */
async function talk(request = CHAT) {
  const run = await owned(test, scope, request)
  await within(tx => moveRun(tx, scope, run, { state: 'running' }))
  return { run, ledger: ledgerOf(run) }
}

describe('an effect', () => {
  it('an effect is stored before it is sent, with its decision, number of attempts and result', async () => {
    const { ledger } = await talk()
    const intended = await ledger.intend(HTTP)
    expect(intended).toEqual({
      effect_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      effect_key: expect.stringMatching(/^key-/),
      action: { id: 'book', version: 3 },
      effect_kind: 'http',
      node_id: 'booking',
      ordinal: 0,
      state: 'intended',
      decision: null,
      send_attempts: 0,
      receipts: [],
      error_code: null,
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      settled_at: null,
    })
    const id = intended.effect_id
    expect(await ledger.decide(id, ALLOW)).toEqual({ ...intended, decision: ALLOW })
    expect(await ledger.sending(id)).toMatchObject({ state: 'sending', send_attempts: 1 })
    expect(await ledger.sending(id)).toMatchObject({ state: 'sending', send_attempts: 2 })
    const receipt = { kind: 'http', status: 200 }
    const settled = await ledger.settle(id, { state: 'succeeded', receipts: [receipt] })
    expect(settled).toMatchObject({ state: 'succeeded', receipts: [receipt], settled_at: expect.any(String) })
    expect(await ledger.list()).toEqual([settled])
  })

  it('an effect that is permitted is decided and sent in one step, once, and one that is denied is not sent', async () => {
    const { run, ledger } = await talk()
    const intended = await ledger.intend(HTTP)
    const id = intended.effect_id
    const permitted = { ...intended, state: 'sending', decision: ALLOW, send_attempts: 1 }
    expect(await ledger.permit(id, ALLOW)).toEqual(permitted)
    await expect(ledger.permit(id, ALLOW)).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
    const denied = (await ledger.intend(HTTP)).effect_id
    await expect(ledger.permit(denied, DENY)).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
    const late = (await ledger.intend(HTTP)).effect_id
    await within(tx => cancelRun(tx, scope, run.run_id))
    await expect(ledger.permit(late, ALLOW)).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
    expect(await ledger.list()).toMatchObject([
      permitted,
      { state: 'failed', send_attempts: 0, decision: DENY, error_code: 'policy_denied' },
      { state: 'failed', send_attempts: 0, decision: { decision: 'deny', reason: 'run_not_active' } },
    ])
  })

  it('an effect is stored once per key, also with concurrent requests', async () => {
    const { run, ledger } = await talk()
    const again = { ...HTTP, effect_key: 'the-same' }
    const records = await Promise.all(Array.from({ length: 10 }, () => ledger.intend(again)))
    expect(new Set(records.map(record => record.effect_id))).toEqual(new Set([effectIdOf(run.run_id, 'the-same')]))
    expect(await ledger.list()).toHaveLength(1)
    await expect(ledger.intend({ ...again, action: { id: 'other', version: 1 } })).rejects.toMatchObject({
      code: 'effect_key_taken',
    })
    const other = await talk()
    expect((await other.ledger.intend(again)).effect_id).not.toBe(records[0]!.effect_id)
  })

  it('effects are listed in order of creation', async () => {
    const { ledger } = await talk()
    const made = []
    for (let ordinal = 0; ordinal < 12; ordinal++) made.push(await ledger.intend({ ...HTTP, ordinal }))
    await ledger.decide(made[5]!.effect_id, DENY)
    expect((await ledger.list()).map(effect => effect.ordinal)).toEqual(made.map(effect => effect.ordinal))
  })

  it.each([
    [DENY, 'policy_denied'],
    [UNAVAILABLE, 'policy_unavailable'],
  ])('an effect that is not allowed has failed and is not sent: %o', async (decision, error_code) => {
    const { ledger } = await talk()
    const { effect_id } = await ledger.intend(HTTP)
    expect(await ledger.decide(effect_id, decision)).toMatchObject({ state: 'failed', decision, error_code })
    await expect(ledger.sending(effect_id)).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
  })

  it('an effect needs a decision if it acts on third parties; a hang-up and inference need none', async () => {
    const { ledger } = await talk()
    for (const kind of ['http', 'sip_dial', 'sip_transfer', 'run_admission'])
      await expect(ledger.sending((await ledger.intend({ ...HTTP, kind })).effect_id)).rejects.toMatchObject({
        code: 'effect_step_not_allowed',
      })
    for (const kind of ['sip_hangup', 'gateway_inference'])
      expect(await ledger.sending((await ledger.intend({ ...HTTP, kind })).effect_id)).toMatchObject({
        state: 'sending',
      })
  })

  it.each([
    ['a second verdict', ['allow'], 'deny'],
    ['a verdict on what is being sent', ['allow', 'send'], 'deny'],
    ['success of what was never sent', ['allow'], 'succeed'],
    ['doubt about what was never sent', ['allow'], 'doubt'],
    ['a send of what succeeded', ['allow', 'send', 'succeed'], 'send'],
    ['a send of what is uncertain', ['allow', 'send', 'doubt'], 'send'],
    ['success of what is uncertain', ['allow', 'send', 'doubt'], 'succeed'],
    ['failure of what succeeded', ['allow', 'send', 'succeed'], 'fail'],
  ] as const)('takes no step out of order: %s', async (_what, before, next) => {
    const { ledger } = await talk()
    const { effect_id } = await ledger.intend(HTTP)
    const steps = {
      allow: () => ledger.decide(effect_id, ALLOW),
      deny: () => ledger.decide(effect_id, DENY),
      send: () => ledger.sending(effect_id),
      succeed: () => ledger.settle(effect_id, { state: 'succeeded' }),
      fail: () => ledger.settle(effect_id, { state: 'failed' }),
      doubt: () => ledger.settle(effect_id, { state: 'uncertain' }),
    }
    for (const step of before) await steps[step]()
    const rows = await ledger.list()
    await expect(steps[next]()).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
    expect(await ledger.list()).toEqual(rows)
  })

  it('an effect takes one of several concurrent decisions; a decision about an unknown effect is an error', async () => {
    const { ledger } = await talk()
    const { effect_id } = await ledger.intend(HTTP)
    const verdicts = await Promise.allSettled(
      [ALLOW, DENY, ALLOW, DENY].map(verdict => ledger.decide(effect_id, verdict)),
    )
    expect(verdicts.filter(verdict => verdict.status === 'fulfilled')).toHaveLength(1)
    const { ledger: another } = await talk()
    await expect(another.sending(effect_id)).rejects.toMatchObject({ code: 'effect_not_found' })
  })
})

describe('a process that lost the run', () => {
  it('a process that lost the run can write no step of an effect', async () => {
    const { run, ledger } = await talk()
    const { effect_id } = await ledger.intend(HTTP)
    await ledger.decide(effect_id, ALLOW)
    const rows = await ledger.list()
    await letLeaseEnd(test, run)
    const steps = [
      () => ledger.intend(HTTP),
      () => ledger.decide(effect_id, DENY),
      () => ledger.sending(effect_id),
      () => ledger.settle(effect_id, { state: 'failed' }),
    ]
    for (const step of steps) await expect(step()).rejects.toMatchObject({ code: 'run_lost' })
    expect(await within(tx => recordInference(tx, scope, run, [inference('x')]))).toBe('lost')
    expect(await ledger.list()).toEqual(rows)
  })

  it('a process that lost the run leaves effects that it was sending uncertain, unless they are idempotent', async () => {
    const { run, ledger } = await talk()
    const begin = async (intent: EffectIntention) => {
      const { effect_id } = await ledger.intend(intent)
      await ledger.decide(effect_id, ALLOW)
      return effect_id
    }
    const [waiting, twice] = [await begin(HTTP), await begin({ ...HTTP, idempotent: true })]
    const once = await begin(HTTP)
    await ledger.sending(twice)
    await ledger.sending(once)
    await letLeaseEnd(test, run)
    const reaped = (await test.database.runs.reap(REAPER, 1000, 60_000)).find(one => one.run_id === run.run_id)!
    const states = async () => new Map((await ledger.list()).map(effect => [effect.effect_id, effect.state]))
    expect(await states()).toEqual(
      new Map([
        [waiting, 'intended'],
        [twice, 'sending'],
        [once, 'uncertain'],
      ]),
    )
    const reapers = ledgerOf(reaped)
    await expect(reapers.sending(once)).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
    expect(await reapers.sending(twice)).toMatchObject({ send_attempts: 2 })
    // Effects that are unsettled at the end of the run were not sent, or are uncertain.
    expect(await within(tx => finishRun(tx, scope, reaped, { ...CHAT_OVER, state: 'failed', engine_lost: true }))).toBe(
      'finished',
    )
    expect(await states()).toEqual(
      new Map([
        [waiting, 'failed'],
        [twice, 'uncertain'],
        [once, 'uncertain'],
      ]),
    )
  })
})

describe('an effect that was allowed before is denied at the send', () => {
  it.each(['http', 'sip_dial', 'sip_transfer', 'run_admission'])(
    'an effect that was allowed is denied at the send after its key was revoked, if it acts on third parties: %s',
    async kind => {
      const { rows } = await test.owner.query(
        `insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash) values ($1, 'k', 'member', 'p', sha256(uuid_send(uuidv7()))) returning key_id`,
        [scope.tenant_id],
      )
      const { ledger } = await talk({ ...CHAT, key_id: rows[0].key_id })
      const before = await ledger.intend({ ...HTTP, kind })
      expect(await ledger.decide(before.effect_id, ALLOW)).toMatchObject({ decision: ALLOW })
      const underWay = await ledger.intend({ ...HTTP, kind })
      await ledger.decide(underWay.effect_id, ALLOW)
      await ledger.sending(underWay.effect_id)
      await test.owner.query('update parley.api_keys set revoked_at = now() where key_id = $1', [rows[0].key_id])
      const after = await ledger.intend({ ...HTTP, kind })
      expect(await ledger.decide(after.effect_id, ALLOW)).toMatchObject({
        state: 'failed',
        decision: { decision: 'deny', reason: 'key_revoked' },
      })
      // What had waited since is not sent, what had left before is sent on.
      await expect(ledger.sending(before.effect_id)).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
      expect((await ledger.list()).find(({ effect_id }) => effect_id === before.effect_id)).toMatchObject({
        ...{ state: 'failed', error_code: 'policy_denied', send_attempts: 0, settled_at: expect.any(String) },
        decision: { ...ALLOW, decision: 'deny', reason: 'key_revoked' },
      })
      expect(await ledger.sending(underWay.effect_id)).toMatchObject({ state: 'sending', send_attempts: 2 })
      const hangup = await ledger.intend(HANGUP)
      expect(await ledger.decide(hangup.effect_id, ALLOW)).toMatchObject({ decision: ALLOW })
      expect(await ledger.sending(hangup.effect_id)).toMatchObject({ state: 'sending' })
    },
  )

  it('effects of a run whose member was removed are denied, those that had left go on', async () => {
    const { rows } = await test.owner.query(
      `insert into parley.members (owner_id, email, role) values ($1, 'ada@example.com', 'admin') returning user_id`,
      [scope.owner_id],
    )
    const { ledger } = await talk({ ...CHAT, user_id: rows[0].user_id })
    const underWay = await ledger.intend(HTTP)
    await ledger.decide(underWay.effect_id, ALLOW)
    await ledger.sending(underWay.effect_id)
    await test.owner.query('update parley.members set removed_at = now() where user_id = $1', [rows[0].user_id])
    const after = await ledger.intend(HTTP)
    expect(await ledger.decide(after.effect_id, ALLOW)).toMatchObject({
      state: 'failed',
      decision: { decision: 'deny', reason: 'key_revoked' },
    })
    expect(await ledger.sending(underWay.effect_id)).toMatchObject({ state: 'sending', send_attempts: 2 })
    const hangup = await ledger.intend(HANGUP)
    expect(await ledger.decide(hangup.effect_id, ALLOW)).toMatchObject({ decision: ALLOW })
  })

  it('an effect that was allowed is denied at the send for a run that is being cancelled', async () => {
    const { run, ledger } = await talk()
    const before = await ledger.intend(HTTP)
    await ledger.decide(before.effect_id, ALLOW)
    await within(tx => cancelRun(tx, scope, run.run_id))
    await expect(ledger.sending(before.effect_id)).rejects.toMatchObject({ code: 'effect_step_not_allowed' })
    const { effect_id } = await ledger.intend(HTTP)
    expect(await ledger.decide(effect_id, ALLOW)).toMatchObject({
      decision: { decision: 'deny', reason: 'run_not_active' },
    })
  })
})

const inference = (effect_key: string): InferenceEffect => ({
  effect_key,
  kind: 'gateway_inference',
  action: { id: 'model.infer', version: 1 },
  node_id: 'greeting',
  ordinal: null,
  state: 'succeeded',
  receipts: [{ kind: 'gateway_inference', attempt_id: effectIdOf('x', effect_key), measurement_id: null }],
  created_at: '2026-01-02T03:04:05.678Z',
})

describe('inference', () => {
  it('inference is recorded afterwards, many in one write, once each', async () => {
    const { run, ledger } = await talk()
    const batch = [
      inference('m-1'),
      inference('m-2'),
      { ...inference('m-3'), state: 'failed' as const, error_code: 'timeout' },
    ]
    expect(await within(tx => recordInference(tx, scope, run, batch))).toBe('recorded')
    expect(await within(tx => recordInference(tx, scope, run, [...batch, inference('m-4')]))).toBe('recorded')
    const effects = await ledger.list()
    expect(effects.map(({ effect_key, state, error_code }) => [effect_key, state, error_code])).toEqual([
      ['m-1', 'succeeded', null],
      ['m-2', 'succeeded', null],
      ['m-3', 'failed', 'timeout'],
      ['m-4', 'succeeded', null],
    ])
    expect(effects[0]).toMatchObject({
      send_attempts: 1,
      created_at: '2026-01-02T03:04:05.678Z',
      receipts: batch[0]!.receipts,
    })
  })
})

describe('a webhook', () => {
  it('a webhook has its effects written only by its sender, also after the end of the run', async () => {
    const { run } = await talk({ ...CHAT, notifies: true })
    await within(tx => finishRun(tx, scope, run, CHAT_OVER))
    const item = (await within(tx => takeWebhooks(tx, scope, 60_000, 1000))).find(one => one.run_id === run.run_id)!
    const ledger = runLedger(test.database, scope, item, () => `hook-${keys++}`)
    const { effect_id } = await ledger.intend(HTTP)
    await ledger.decide(effect_id, ALLOW)
    expect(await ledger.sending(effect_id)).toMatchObject({ state: 'sending' })
    const other = runLedger(test.database, scope, { ...item, attempts: 2 }, () => `hook-${keys++}`)
    await expect(other.settle(effect_id, { state: 'succeeded' })).rejects.toMatchObject({ code: 'run_lost' })
    expect(await ledger.settle(effect_id, { state: 'succeeded' })).toMatchObject({ state: 'succeeded' })
    expect(await listEffects(test.database.within(scope), scope, run.run_id)).toHaveLength(1)
  })
})

describe('without a database', () => {
  it('no effect may be sent', async () => {
    const { run } = await talk()
    const gone = await openDatabase({ ownerUrl: readAddress(test.owner.url).ownerUrl })
    await gone.close()
    await expect(runLedger(gone, scope, run, () => 'k').intend(HTTP)).rejects.toMatchObject({
      code: 'ledger_unavailable',
    })
  })
})
