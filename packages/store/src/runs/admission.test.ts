import { randomUUID } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import {
  type Admission,
  admissionBy,
  admitBy,
  admitWithAnswer,
  countTransfer,
  type NewRun,
  RefusedAdmission,
} from './admission.ts'
import { writeBudget } from './budget.ts'
import { cancelRun, cancelRunsOfKey, finishBy, finishRun } from './finish.ts'
import { claimRun, moveRun, storeDial } from './ownership.ts'
import { installRateCard } from './rate-cards.ts'
import {
  admit,
  admitted,
  CHAT,
  CHAT_OVER,
  COMPLETED,
  counted,
  ENGINE,
  OUTBOUND,
  owned,
  rowOf,
  workspace,
} from './runs.fixture.ts'
import { readRun } from './runs.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase({ maxConnections: 8, waitMs: 60_000 })
})
afterAll(() => test?.close())

const CARD = {
  rate_card_id: 'card-1',
  effective_at: null,
  reserve_usd: { phone: '1.5', web: '0.5', cloud: '0.25' },
  rates: [{ meter: 'connected_ms', per: 60_000, price_usd: '0.6', channel: null, provider: null, model_id: null }],
} as const

async function capped(scope: Scope, cap: string): Promise<void> {
  await test.database.transaction(scope, tx => installRateCard(tx, scope, CARD))
  const { rows } = await test.owner.query('select policy_id from parley.budgets where tenant_id = $1', [
    scope.tenant_id,
  ])
  await test.database.transaction(scope, tx => writeBudget(tx, scope, cap, rows[0].policy_id))
}

describe('an admitted run', () => {
  it('an admitted run holds a permit and has the requested fields', async () => {
    const scope = await workspace(test)
    const run_id = await admitted(test, scope)
    expect(await readRun(test.database.within(scope), scope, run_id)).toEqual({
      ...scope,
      run_id,
      agent_id: 'greeter',
      publication: { agent_id: 'greeter', version: 1, digest: 'd' },
      plan_schema_version: 3,
      channel: 'phone',
      mode: 'outbound',
      state: 'admitted',
      phone_state: 'admitted',
      outcome: null,
      disposition: null,
      trigger: OUTBOUND.trigger,
      created_at: expect.stringMatching(/Z$/),
      started_at: null,
      ended_at: null,
      connected_ms: null,
      from_number: '+4930111',
      to_number: '+4930222',
      contact: null,
      answered_by: null,
      successful: null,
      dynamic_variables: { name: 'Ada' },
      metadata: { order: 7 },
      latency: null,
      analysis: null,
      test: false,
      caller_identity: null,
      quality: null,
    })
    expect(await counted(test, scope)).toEqual({ live: 1, permits: 1, calls: 1 })
  })

  it('an admitted run belongs to one environment: another one sees neither its agents nor its counts', async () => {
    const [ours, theirs] = [await workspace(test), await test.scope()]
    await test.owner.query(
      'update parley.tenants set admission_enabled = true, concurrent_capacity = 1 where tenant_id = $1',
      [theirs.tenant_id],
    )
    await expect(admit(test, theirs)).rejects.toMatchObject({ code: '23503' })
    const foreign = test.database.transaction(ours, tx =>
      admitBy(admissionBy('parley.admit_run'), tx, theirs, OUTBOUND),
    )
    await expect(foreign).rejects.toMatchObject({ code: '42501' })
    expect(await counted(test, theirs)).toEqual({ live: 0, permits: 0, calls: 0 })
  })
})

describe('a refused run', () => {
  it.each([
    [
      'while admission is off',
      'admission_enabled = false, concurrent_capacity = null',
      'admission_disabled',
      null,
      null,
    ],
    ['without a capacity', 'concurrent_capacity = null, daily_call_limit = 0', 'tenant_not_configured', null, null],
    [
      'over the daily limit, before the capacity',
      'daily_call_limit = 0, concurrent_capacity = 0',
      'daily_call_limit',
      '0',
      '0',
    ],
    ['over the capacity', 'concurrent_capacity = 0', 'concurrent_capacity', '0', '0'],
  ])('%s, and nothing is created', async (_what, set, reason, limit, used) => {
    const scope = await workspace(test)
    await test.owner.query(`update parley.tenants set ${set} where tenant_id = $1`, [scope.tenant_id])
    expect(await admit(test, scope)).toEqual({ kind: 'refused', reason, limit, used, run_id: null })
    expect(await counted(test, scope)).toEqual({ live: 0, permits: 0, calls: 0 })
    const { rows } = await test.owner.query('select from parley.runs where tenant_id = $1', [scope.tenant_id])
    expect(rows).toEqual([])
  })

  it('a run that exceeds the spend cap, including the reserves of unpriced runs, is refused until the cap is raised', async () => {
    const scope = await workspace(test, { daily: 0 })
    await test.owner.query('update parley.tenants set daily_call_limit = null where tenant_id = $1', [scope.tenant_id])
    await capped(scope, '3')
    await admitted(test, scope)
    await admitted(test, scope)
    await test.owner.query(
      'update parley.tenants set daily_call_limit = 0, concurrent_capacity = 0 where tenant_id = $1',
      [scope.tenant_id],
    )
    expect(await admit(test, scope)).toMatchObject({ reason: 'spend_cap', limit: '3', used: '3' })
    expect(await admit(test, scope, CHAT)).toMatchObject({ reason: 'spend_cap' })
    // Runs of a test publication are not billed.
    expect(await admit(test, scope, { ...CHAT, test: true })).toMatchObject({ reason: 'concurrent_capacity' })
  })

  it('a refused inbound call is stored as rejected, without a permit', async () => {
    const scope = await workspace(test, { capacity: 0 })
    const inbound = { ...OUTBOUND, mode: 'inbound', notifies: true } as const
    const refused = await admit(test, scope, inbound, { keepRefused: true })
    expect(refused).toMatchObject({ kind: 'refused', reason: 'concurrent_capacity', run_id: expect.any(String) })
    const run = await rowOf(test, (refused as Extract<Admission, { kind: 'refused' }>).run_id!)
    expect(run).toMatchObject({
      state: 'rejected',
      phone_state: 'rejected',
      disposition: 'concurrent_capacity',
      outcome: null,
    })
    expect(run.ended_at).not.toBeNull()
    expect(await counted(test, scope)).toEqual({ live: 0, permits: 0, calls: 0 })
    const { rows } = await test.owner.query('select event from parley.outbox where tenant_id = $1', [scope.tenant_id])
    expect(rows).toEqual([{ event: 'run.ended' }])
  })
})

describe('a revoked key', () => {
  it('a revoked key cancels the runs that it requested and that have not begun, and no others', async () => {
    const scope = await workspace(test)
    const [key_id, another] = [crypto.randomUUID(), crypto.randomUUID()]
    const waiting = await admitted(test, scope, { ...OUTBOUND, key_id })
    const beginning = await owned(test, scope, { ...OUTBOUND, key_id })
    const live = await owned(test, scope, { ...OUTBOUND, key_id })
    await test.database.transaction(scope, tx => moveRun(tx, scope, live, { state: 'running' }))
    const others = await admitted(test, scope, { ...OUTBOUND, key_id: another })
    const taken = await test.database.transaction(scope, tx => cancelRunsOfKey(tx, scope, key_id))
    expect(taken.toSorted()).toEqual([waiting, beginning.run_id].toSorted())
    const ids = [waiting, beginning.run_id, live.run_id, others]
    const states = await Promise.all(ids.map(async id => (await rowOf(test, id)).state))
    expect(states).toEqual(['cancelled', 'admitted', 'running', 'admitted'])
    const { rows } = await test.owner.query(
      'select run_id from parley.run_ownership where tenant_id = $1 and cancel_asked',
      [scope.tenant_id],
    )
    expect(rows, 'the owner gets the request').toEqual([{ run_id: beginning.run_id }])
  })
})

describe('the daily count', () => {
  it('the daily count contains outbound calls only, and transfers up to the limit', async () => {
    const scope = await workspace(test, { daily: 2 })
    await admitted(test, scope, CHAT)
    await admitted(test, scope, { ...OUTBOUND, mode: 'inbound' })
    await admitted(test, scope)
    const transfer = () => test.database.transaction(scope, tx => countTransfer(tx, scope))
    expect(await transfer()).toBeNull()
    expect(await transfer()).toEqual({ limit: 2, used: 2 })
    expect(await admit(test, scope)).toMatchObject({ reason: 'daily_call_limit', limit: '2', used: '2' })
    expect((await counted(test, scope)).calls).toBe(2)
  })

  it('the daily count excludes calls from more than 24 hours ago', async () => {
    const scope = await workspace(test, { daily: 1 })
    await admitted(test, scope)
    await test.owner.query(
      "update parley.call_minutes set minute = minute - interval '23 hours 58 minutes' where tenant_id = $1",
      [scope.tenant_id],
    )
    expect(await admit(test, scope)).toMatchObject({ reason: 'daily_call_limit' })
    await test.owner.query(
      "update parley.call_minutes set minute = minute - interval '4 minutes' where tenant_id = $1",
      [scope.tenant_id],
    )
    expect(await admit(test, scope)).toMatchObject({ kind: 'admitted' })
  })

  it('the daily count releases only calls that ended before an INVITE was sent', async () => {
    const scope = await workspace(test, { daily: 10 })
    const never = await admitted(test, scope)
    expect(await test.database.transaction(scope, tx => cancelRun(tx, scope, never))).toBe('finished')
    expect(await counted(test, scope)).toEqual({ live: 0, permits: 0, calls: 0 })
    const dialled = await owned(test, scope)
    await test.database.transaction(scope, async tx => {
      expect(await storeDial(tx, scope, dialled, { call_id: 'x' })).toBe('stored')
      expect(await moveRun(tx, scope, dialled, { state: 'running', phone_state: 'dialing' })).toBe('moved')
      expect(await finishRun(tx, scope, dialled, COMPLETED)).toBe('finished')
    })
    expect(await counted(test, scope)).toEqual({ live: 0, permits: 0, calls: 1 })
  })
})

interface Race {
  readonly admitted: number
  readonly reasons: Set<string>
}

const ADMISSIONS = 300
const ADMITTERS = 64

/** 300 admissions by 64 at once, on 8 connections. */
async function race(scope: Scope, admitOne: (index: number) => Promise<Admission>): Promise<Race> {
  const answers: Admission[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: ADMITTERS }, async () => {
      while (next < ADMISSIONS) answers.push(await admitOne(next++))
    }),
  )
  expect(answers).toHaveLength(ADMISSIONS)
  const refused = answers.filter(answer => answer.kind === 'refused')
  expect((await counted(test, scope)).permits).toBeLessThanOrEqual(ADMISSIONS - refused.length)
  return { admitted: answers.length - refused.length, reasons: new Set(refused.map(answer => answer.reason)) }
}

/** Admits a run as the last statement of its transaction, before the counters are locked; by `admit`, default the database's own. */
async function admitAnswered(
  scope: Scope,
  by = (tx: Queries, run: typeof OUTBOUND & NewRun) => admitWithAnswer(tx, scope, run),
) {
  const run = { run_id: randomUUID(), created_at: new Date().toISOString() }
  try {
    await test.database.transaction(scope, tx => by(tx, { ...OUTBOUND, ...run }))
    return { kind: 'admitted' as const, ...run, owned: null }
  } catch (error) {
    if (error instanceof RefusedAdmission) return { kind: 'refused' as const, ...error.refused, run_id: null }
    throw error
  }
}

/** Ways to admit an outbound call. */
const ADMITTING = [
  { way: 'before its answer is made', admitOne: (scope: Scope) => admit(test, scope) },
  { way: 'with its answer', admitOne: (scope: Scope) => admitAnswered(scope) },
]

// Thousands of transactions take long on a busy machine.
describe.each(ADMITTING)('concurrent admissions, each $way,', ({ admitOne }) => {
  it('never admit more runs than the capacity, and a refused one leaves nothing', async () => {
    for (const daily of [100, null]) {
      const scope = await workspace(test, { capacity: 40, daily })
      const { admitted: passed, reasons } = await race(scope, () => admitOne(scope))
      expect(passed).toBe(40)
      expect(reasons).toEqual(new Set(['concurrent_capacity']))
      expect(await counted(test, scope)).toEqual({ live: 40, permits: 40, calls: 40 })
    }
  })

  it('never admit more calls than the daily limit', async () => {
    const scope = await workspace(test, { capacity: 1000, daily: 40 })
    const { admitted: passed, reasons } = await race(scope, () => admitOne(scope))
    expect(passed).toBe(40)
    expect(reasons).toEqual(new Set(['daily_call_limit']))
    expect(await counted(test, scope)).toEqual({ live: 40, permits: 40, calls: 40 })
  })

  it('never admit more runs than the spend cap allows, and reserve what each may cost', async () => {
    const scope = await workspace(test, { capacity: 1000 })
    await capped(scope, '60.7')
    const { admitted: passed, reasons } = await race(scope, () => admitOne(scope))
    expect(passed).toBe(40)
    expect(reasons).toEqual(new Set(['spend_cap']))
    const { rows } = await test.owner.query(
      'select unresolved, reserved_usd::float8 as reserved from parley.run_counters where tenant_id = $1',
      [scope.tenant_id],
    )
    expect(rows).toEqual([{ unresolved: 40, reserved: 60 }])
  })
})

describe('concurrent admissions', () => {
  it('concurrent admissions never admit more runs than the daily limit while runs end and release their permits', async () => {
    const scope = await workspace(test, { capacity: 40, daily: 100 })
    const over: Promise<unknown>[] = []
    const { admitted: passed, reasons } = await race(scope, async () => {
      const admission = await admit(test, scope, OUTBOUND, { owner: { ...ENGINE, leaseMs: 60_000 } })
      if (admission.kind === 'admitted')
        over.push(
          test.database.transaction(scope, async tx => {
            await storeDial(tx, scope, admission.owned!, { call_id: 'x' })
            await moveRun(tx, scope, admission.owned!, { state: 'running' })
            expect(await finishRun(tx, scope, admission.owned!, COMPLETED)).toBe('finished')
          }),
        )
      return admission
    })
    await Promise.all(over)
    expect(passed).toBe(100)
    expect(reasons).toContain('daily_call_limit')
    expect(await counted(test, scope)).toEqual({ live: 0, permits: 0, calls: 100 })
  })

  it('concurrent admissions never release a permit twice', async () => {
    const scope = await workspace(test, { capacity: 100 })
    const runs = await Promise.all(Array.from({ length: 20 }, () => owned(test, scope)))
    const ends = runs.flatMap(run =>
      Array.from({ length: 4 }, () =>
        test.database.transaction(scope, async tx => {
          await moveRun(tx, scope, run, { state: 'running' })
          return finishRun(tx, scope, run, COMPLETED)
        }),
      ),
    )
    const answers = await Promise.all(ends)
    expect(answers.filter(answer => answer === 'finished')).toHaveLength(20)
    expect(answers.filter(answer => answer === 'lost')).toHaveLength(60)
    expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
  })

  it('concurrent admissions never both cancel and start a run', async () => {
    const scope = await workspace(test, { capacity: 100 })
    const runs = await Promise.all(Array.from({ length: 30 }, () => admitted(test, scope, CHAT)))
    const results = await Promise.all(
      runs.map(run_id =>
        Promise.all([
          test.database.transaction(scope, tx => claimRun(tx, scope, run_id, ENGINE)),
          test.database.transaction(scope, tx => cancelRun(tx, scope, run_id)),
        ]),
      ),
    )
    for (const [claimed, cancelled] of results) expect(cancelled).toBe(claimed === null ? 'finished' : 'requested')
    const claims = results.filter(([claimed]) => claimed !== null).length
    expect(await counted(test, scope)).toMatchObject({ live: claims, permits: claims })
  })
})

/** A copy of a function under another name, with a fault. */
async function plant(name: string, fault: (body: string) => string, copy: string): Promise<void> {
  const { rows } = await test.owner.query(`select pg_get_functiondef('parley.${name}'::regproc) as text`)
  const body = rows[0].text as string
  const faulty = fault(body)
  expect(faulty).not.toBe(body)
  await test.owner.query(faulty.replaceAll(`parley.${name}`, `parley.${copy}`).replaceAll(`${name}.`, `${copy}.`))
}

describe('the admission tests detect a planted fault:', () => {
  it('the admission tests detect a planted fault: an admission without a lock on the counters', async () => {
    await plant('admit_run', body => body.replace('for no key update', ''), 'admit_any')
    const scope = await workspace(test, { capacity: 40 })
    const { admitted: passed } = await race(scope, () =>
      test.database.transaction(scope, tx => admitBy(admissionBy('parley.admit_any'), tx, scope, CHAT)),
    )
    expect(passed).toBeGreaterThan(40)
  })

  it('the admission tests detect a planted fault: a count after the rows of a run that does not look at the capacity', async () => {
    await plant(
      'admit_run',
      body => body.replace('and (is_locked or c.live < environment.concurrent_capacity)', ''),
      'admit_late',
    )
    const scope = await workspace(test, { capacity: 40 })
    const { admitted: passed } = await race(scope, () =>
      admitAnswered(scope, async (tx, run) => {
        const request = JSON.stringify(run)
        const late = sql`select from parley.admit_late(${scope.tenant_id}, ${request}, null, null, null, false, true)`
        await late.execute(tx).catch(error => {
          throw error.code === 'PA001' ? new RefusedAdmission(JSON.parse(error.detail)) : error
        })
      }),
    )
    expect(passed).toBeGreaterThan(40)
  })

  it('the admission tests detect a planted fault: an end of a run that does not release the permit', async () => {
    await plant(
      'finish_run',
      body => body.replace('delete from parley.run_ownership o where o.run_id = of_run;', ''),
      'finish_any',
    )
    const scope = await workspace(test)
    for (let live = 0; live < 3; live++) await admitted(test, scope, CHAT)
    const run = await owned(test, scope, CHAT)
    await test.database.transaction(scope, tx => moveRun(tx, scope, run, { state: 'running' }))
    await test.database.transaction(scope, tx =>
      finishBy(sql`parley.finish_any`, tx, scope, run.run_id, run.fence, CHAT_OVER),
    )
    // One more permit is taken than the counter says, so that the next admission would exceed the limit.
    const { live, permits } = await counted(test, scope)
    expect([live, permits]).toEqual([3, 4])
  })
})
