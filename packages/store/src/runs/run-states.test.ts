import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import type { PhoneState, RunState } from '../schema-runs.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { cancelRun, finishRun } from './finish.ts'
import { claimRun, moveRun, ownsRun } from './ownership.ts'
import { COMPLETED, ENGINE, owned, rowOf, workspace } from './runs.fixture.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
  scope = await workspace(test, { capacity: 10_000 })
})
afterAll(() => test?.close())

const within = <Result>(work: (tx: Queries) => Promise<Result>) => test.database.transaction(scope, work)
const claim = (runId: string, owner = ENGINE, leaseMs = 60_000) =>
  within(tx => claimRun(tx, scope, runId, owner, leaseMs))

const STATES = ['admitted', 'running', 'ending', 'completed', 'failed', 'cancelled', 'rejected', 'expired'] as const
const TERMINAL = new Set<RunState>(['completed', 'failed', 'cancelled', 'rejected', 'expired'])

describe('a state of a run, call or recording', () => {
  const may = async (machine: string, from: string, to: string): Promise<boolean> =>
    (await test.owner.query('select parley.run_may_move($1, $2, $3) as may', [machine, from, to])).rows[0].may

  it('the state of a run changes only as documented, and a terminal one never', async () => {
    const legal: Record<string, readonly string[]> = {
      admitted: ['running', 'rejected', 'expired', 'cancelled'],
      running: ['ending', 'completed', 'failed', 'cancelled'],
      ending: ['completed', 'failed', 'cancelled'],
    }
    for (const from of STATES)
      for (const to of STATES)
        expect(await may('state', from, to), `${from} -> ${to}`).toBe(
          from === to || (legal[from]?.includes(to) ?? false),
        )
  })

  it('the state of a call never goes back, and a final one never changes', async () => {
    const order: readonly (readonly PhoneState[])[] = [
      ['admitted'],
      ['preparing'],
      ['awaiting_sip', 'dialing'],
      ['ringing'],
      ['active'],
      ['terminating'],
      ['ended', 'rejected', 'expired', 'setup_failed'],
    ]
    const rankOf = new Map(order.flatMap((states, rank) => states.map(state => [state, rank] as const)))
    const paths = [
      ['admitted', 'preparing', 'dialing', 'ringing', 'active', 'terminating', 'ended'],
      ['admitted', 'preparing', 'awaiting_sip', 'active', 'terminating', 'ended'],
      ['ringing', 'setup_failed'],
      ['preparing', 'rejected'],
      ['admitted', 'expired'],
    ]
    for (const path of paths)
      for (const [index, to] of path.slice(1).entries())
        expect(await may('phone_state', path[index]!, to), to).toBe(true)
    for (const [from, rank] of rankOf)
      for (const [to, next] of rankOf)
        if (from !== to && (next <= rank || rank === 6))
          expect(await may('phone_state', from, to), `${from} -> ${to}`).toBe(false)
  })

  it.each([
    ['back', { state: 'running' }],
    ['back on the phone', { phone_state: 'dialing' }],
    ['out of the phone’s states', { phone_state: 'admitted' }],
  ] as const)('that would go %s is refused, and nothing changes', async (_what, move) => {
    const run = await owned(test, scope)
    await within(async tx => {
      await moveRun(tx, scope, run, { state: 'running', phone_state: 'active' })
      await moveRun(tx, scope, run, { state: 'ending' })
    })
    const before = await rowOf(test, run.run_id)
    expect(before.started_at).not.toBeNull()
    expect(await within(tx => moveRun(tx, scope, run, { contact: 'human', ...move }))).toBe('not_allowed')
    expect(await rowOf(test, run.run_id)).toEqual(before)
  })

  it('the state of a run ends only in an allowed terminal state, once', async () => {
    const run = await owned(test, scope)
    expect(TERMINAL.has(COMPLETED.state)).toBe(true)
    expect(await within(tx => finishRun(tx, scope, run, COMPLETED))).toBe('not_allowed')
    expect(await within(tx => ownsRun(tx, scope, run))).toBe(true)
    await within(tx => moveRun(tx, scope, run, { state: 'running', phone_state: 'active' }))
    expect(await within(tx => finishRun(tx, scope, run, COMPLETED))).toBe('finished')
    const ended = await rowOf(test, run.run_id)
    expect(await within(tx => finishRun(tx, scope, run, { ...COMPLETED, state: 'failed' }))).toBe('lost')
    expect(await within(tx => moveRun(tx, scope, run, { state: 'ending' }))).toBe('lost')
    expect(await within(tx => cancelRun(tx, scope, run.run_id))).toBe('ended')
    expect(await claim(run.run_id)).toBeNull()
    expect(await rowOf(test, run.run_id)).toEqual(ended)
  })
})
