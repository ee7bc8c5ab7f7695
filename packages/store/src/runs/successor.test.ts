import { randomUUID } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import {
  addWebCandidates,
  insertWebCall,
  readWebCall,
  settleWebOffer,
  storeFirstOffer,
  storeNextOffer,
  webCallRunId,
} from '../web/web-calls.ts'
import { writeBudget } from './budget.ts'
import { finishRun } from './finish.ts'
import { answerMessage, nextMessage, postMessage, readMessage, takeMessage } from './messages.ts'
import { claimRun, moveRun } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'
import { installRateCard } from './rate-cards.ts'
import { CHAT, CHAT_OVER, COMPLETED, counted, ENGINE, OUTBOUND, owned, rowOf, workspace } from './runs.fixture.ts'
import { admitSuccessor, type SuccessorAdmission, sourceEndsCall, successorPublication } from './successor.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const EFFECT_ID = '0190a1b2-0000-8000-8000-000000000001'

async function call(scope: Scope): Promise<RunOwnership> {
  const source = await owned(test, scope)
  await test.database.transaction(scope, tx =>
    moveRun(tx, scope, source, { state: 'running', phone_state: 'preparing' }),
  )
  return source
}

function succeed(scope: Scope, source: RunOwnership, run_id: string = randomUUID()): Promise<SuccessorAdmission> {
  const request = {
    run_id,
    agent_id: 'other',
    version: 1,
    effect_id: EFFECT_ID,
    dynamic_variables: { name: 'Ada' },
    notifies: false,
  }
  return test.database.transaction(scope, tx =>
    admitSuccessor(tx, scope, source, request, { ...ENGINE, leaseMs: 60_000 }),
  )
}

async function successorOf(scope: Scope, source: RunOwnership): Promise<RunOwnership> {
  const admission = await succeed(scope, source)
  if (admission.kind !== 'admitted') throw new Error(`not admitted: ${admission.kind}`)
  return admission.owned
}

const end = (scope: Scope, run: RunOwnership) =>
  test.database.transaction(scope, async tx => {
    await moveRun(tx, scope, run, { state: 'running', phone_state: 'active' })
    return finishRun(tx, scope, run, COMPLETED)
  })

describe('a run that continues a call', () => {
  it('the run has the numbers and rights of its source, which its trigger names, and belongs to the same process', async () => {
    const scope = await workspace(test)
    const source = await call(scope)
    const run_id = randomUUID()
    expect(await succeed(scope, source, run_id)).toEqual({ kind: 'admitted', owned: { run_id, fence: '1' } })
    expect(await rowOf(test, run_id)).toMatchObject({
      agent_id: 'other',
      channel: 'phone',
      mode: 'outbound',
      state: 'admitted',
      trigger: { kind: 'callback', source_run_id: source.run_id, effect_id: EFFECT_ID },
      from_number: OUTBOUND.from_number,
      to_number: OUTBOUND.to_number,
      trunk_id: OUTBOUND.trunk_id,
      can_dial: true,
      dynamic_variables: { name: 'Ada' },
      dialog: null,
    })
  })

  it('one call holds one permit: it is admitted where the capacity and the calls of the day are used up', async () => {
    const scope = await workspace(test, { capacity: 1, daily: 1 })
    const source = await call(scope)
    const successor = await successorOf(scope, source)
    expect(await counted(test, scope)).toEqual({ live: 1, permits: 2, calls: 1 })
    expect(await end(scope, source)).toBe('finished')
    expect(await counted(test, scope)).toMatchObject({ live: 1, permits: 1 })
    expect(await end(scope, successor)).toBe('finished')
    expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
  })

  it('a successor that ends first returns the permit to its source, and leaves it to a successor of its own', async () => {
    const scope = await workspace(test, { capacity: 1 })
    const first = await call(scope)
    await end(scope, await successorOf(scope, first))
    expect(await counted(test, scope)).toMatchObject({ live: 1, permits: 1 })
    const second = await successorOf(scope, first)
    const third = await successorOf(scope, second)
    await end(scope, second)
    await end(scope, first)
    expect(await counted(test, scope)).toMatchObject({ live: 1, permits: 1 })
    await end(scope, third)
    expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
  })

  it('a call has one successor at a time, and no process can claim it to dial it again', async () => {
    const scope = await workspace(test)
    const source = await call(scope)
    const { run_id } = await successorOf(scope, source)
    expect(await succeed(scope, source)).toEqual({ kind: 'lost' })
    expect(await succeed(scope, { ...source, fence: '7' })).toEqual({ kind: 'lost' })
    await test.owner.query('update parley.run_ownership set engine = null where run_id = $1', [run_id])
    expect(await test.database.transaction(scope, tx => claimRun(tx, scope, run_id, ENGINE))).toBeNull()
  })

  it('admission that is switched off and the spend cap refuse it, and nothing is created', async () => {
    const scope = await workspace(test, { capacity: 1 })
    const source = await call(scope)
    await test.database.transaction(scope, tx =>
      installRateCard(tx, scope, {
        rate_card_id: 'card-1',
        effective_at: null,
        reserve_usd: { phone: '2', web: '0', cloud: '0' },
        rates: [],
      }),
    )
    const { rows } = await test.owner.query('select policy_id from parley.budgets where tenant_id = $1', [
      scope.tenant_id,
    ])
    await test.database.transaction(scope, tx => writeBudget(tx, scope, '1', rows[0].policy_id))
    expect(await succeed(scope, source)).toEqual({ kind: 'refused', reason: 'spend_cap' })
    await test.owner.query('update parley.tenants set admission_enabled = false where tenant_id = $1', [
      scope.tenant_id,
    ])
    expect(await succeed(scope, source)).toEqual({ kind: 'refused', reason: 'admission_disabled' })
    expect(await counted(test, scope)).toMatchObject({ live: 1, permits: 1 })
  })
})

describe('a run that continues a chat', () => {
  const chat = async (scope: Scope) => {
    const source = await owned(test, scope, CHAT)
    await test.database.transaction(scope, tx => moveRun(tx, scope, source, { state: 'running' }))
    return source
  }
  const posting = (scope: Scope, run_id: string, text: string, message_id: string = randomUUID()) =>
    test.database.transaction(scope, tx => postMessage(tx, scope, run_id, { message_id, text }))
  const over = (scope: Scope, run: RunOwnership) =>
    test.database.transaction(scope, async tx => {
      await moveRun(tx, scope, run, { state: 'running' })
      return finishRun(tx, scope, run, CHAT_OVER)
    })

  it('the client goes on with the id of the first run, through every run that continues the chat', async () => {
    const scope = await workspace(test)
    const first = await chat(scope)
    const second = await successorOf(scope, first)
    expect(await rowOf(test, second.run_id)).toMatchObject({ channel: 'cloud', mode: 'chat', phone_state: null })
    const third = await successorOf(scope, second)
    await over(scope, first)
    await over(scope, second)
    const id = randomUUID()
    expect(await posting(scope, first.run_id, 'Hello?', id)).toMatchObject({ run_id: third.run_id, state: 'waiting' })
    expect(await posting(scope, first.run_id, 'Hello?', id)).toMatchObject({ message_id: id, state: 'waiting' })
    expect(await nextMessage(test.database.within(scope), scope, third)).toMatchObject({ message_id: id })
    await over(scope, third)
    expect(await readMessage(test.database.within(scope), scope, id)).toMatchObject({ state: 'refused' })
    expect(await posting(scope, first.run_id, 'And now?')).toBe('run_ended')
    expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
  })

  it('a message that waits for the first run is answered by the run that continues the chat', async () => {
    const scope = await workspace(test)
    const first = await chat(scope)
    const message_id = randomUUID()
    await posting(scope, first.run_id, 'Hello?', message_id)
    const second = await successorOf(scope, first)
    await over(scope, first)
    expect(await readMessage(test.database.within(scope), scope, message_id)).toMatchObject({
      run_id: second.run_id,
      state: 'waiting',
    })
  })

  it('a message that waits for a run which ends before its source returns to the source', async () => {
    const scope = await workspace(test)
    const first = await chat(scope)
    const second = await successorOf(scope, first)
    const message_id = randomUUID()
    expect(await posting(scope, first.run_id, 'Hello?', message_id)).toMatchObject({ run_id: second.run_id })
    await over(scope, second)
    expect(await nextMessage(test.database.within(scope), scope, first)).toMatchObject({ message_id })
  })

  it('while the first run answers, no message is accepted for the run that continues the chat', async () => {
    const scope = await workspace(test)
    const first = await chat(scope)
    const message_id = randomUUID()
    await posting(scope, first.run_id, 'Hello?', message_id)
    const within = <Result>(work: Parameters<typeof test.database.transaction<Result>>[1]) =>
      test.database.transaction(scope, work)
    await within(tx => takeMessage(tx, scope, first, message_id))
    await successorOf(scope, first)
    expect(await posting(scope, first.run_id, 'And?')).toBe('turn_in_progress')
    await within(tx => answerMessage(tx, scope, first, message_id, { state: 'running', utterances: [] }))
    expect(await posting(scope, first.run_id, 'And?')).toMatchObject({ state: 'waiting' })
  })
})

describe('a run that continues a web call', () => {
  const WEB = { ...CHAT, channel: 'web', mode: 'inbound' } as const

  it('the browser goes on with the id of the first run: its offers are answered until the last run ends', async () => {
    const scope = await workspace(test)
    const first = await owned(test, scope, WEB)
    const { run_id } = first
    const within = <Result>(work: Parameters<typeof test.database.transaction<Result>>[1]) =>
      test.database.transaction(scope, work)
    await within(tx =>
      insertWebCall(tx, scope, { run_id, token_hash: Buffer.from(run_id), validForMs: 60_000, site_key_id: null }),
    )
    expect(await within(tx => storeFirstOffer(tx, scope, run_id, 'offer', Buffer.from('resume')))).toBe(true)
    const second = await successorOf(scope, first)
    const third = await successorOf(scope, second)
    for (const run of [first, second]) {
      await within(tx => moveRun(tx, scope, run, { state: 'running' }))
      await within(tx => finishRun(tx, scope, run, CHAT_OVER))
    }
    const db = test.database.within(scope)
    expect(await webCallRunId(db, scope, third.run_id)).toBe(run_id)
    expect(await readWebCall(db, scope, run_id)).toMatchObject({ offer: 'offer' })
    expect(await within(tx => storeNextOffer(tx, scope, run_id, 'again'))).toBe(2)
    expect(await within(tx => addWebCandidates(tx, scope, run_id, 'candidate'))).toBe(true)
    expect(await within(tx => settleWebOffer(tx, scope, run_id, first, 2, { answer: 'late' }))).toBe(false)
    expect(await within(tx => settleWebOffer(tx, scope, run_id, third, 2, { answer: 'answer' }))).toBe(true)
    await within(tx => moveRun(tx, scope, third, { state: 'running' }))
    await within(tx => finishRun(tx, scope, third, CHAT_OVER))
    expect(await within(tx => storeNextOffer(tx, scope, run_id, 'too late'))).toBeNull()
    expect(await readWebCall(db, scope, run_id)).toMatchObject({ offer: null, candidates: [] })
  })
})

describe('two runs of one call whose engine died', () => {
  it('the source ends the call while it is live, and no other run does it again', async () => {
    const scope = await workspace(test)
    const source = await call(scope)
    const { run_id } = await successorOf(scope, source)
    const ends = () => sourceEndsCall(test.database.within(scope), scope, run_id, 'hangup/engine_lost')
    expect(await ends()).toBe(false)
    await test.owner.query("update parley.runs set dialog = '{}' where run_id = $1", [source.run_id])
    expect(await ends()).toBe(true)
    expect(await sourceEndsCall(test.database.within(scope), scope, source.run_id, 'hangup/engine_lost')).toBe(false)
    await end(scope, source)
    expect(await ends()).toBe(false)
  })
})

describe('the publication that continues a call', () => {
  it('the head of an agent is taken where no version is named; archived agents and test versions are not', async () => {
    const scope = await workspace(test)
    const find = (version: number | null) => successorPublication(test.database.within(scope), scope, 'other', version)
    await test.owner.query('update parley.agents set head_version = 1 where tenant_id = $1', [scope.tenant_id])
    expect(await find(null)).toMatchObject({ agent_id: 'other', version: 1, channels: ['phone', 'cloud'] })
    expect(await find(1)).toMatchObject({ version: 1 })
    expect(await find(2)).toBeNull()
    await test.owner.query("update parley.publications set test = true where tenant_id = $1 and agent_id = 'other'", [
      scope.tenant_id,
    ])
    expect(await find(1)).toBeNull()
    await test.owner.query('update parley.publications set test = false where tenant_id = $1', [scope.tenant_id])
    await test.owner.query('update parley.agents set archived_at = now() where tenant_id = $1', [scope.tenant_id])
    expect(await find(1)).toBeNull()
  })
})
