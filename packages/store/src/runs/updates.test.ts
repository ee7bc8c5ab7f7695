import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { appendEvents, listEvents } from './events.ts'
import { claimRun, releaseRun } from './ownership.ts'
import { admitted, ENGINE, letLeaseEnd, owned, REAPER, talesOn, workspace } from './runs.fixture.ts'
import { readUpdate, settleUpdate, storeUpdate } from './updates.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const { withinOf, running, end } = talesOn(() => test)

const ask = (scope: Scope, runId: string) => withinOf(scope)(tx => storeUpdate(tx, scope, runId, { metadata: null }))

const letDeadlinePass = (runId: string) =>
  test.owner.query('update parley.run_updates set deadline = now() where run_id = $1', [runId])

/** The timeline, each item in a word or two; its numbers must have no gap. */
async function timelineOf(scope: Scope, runId: string): Promise<unknown[]> {
  const { rows } = await listEvents(test.database.within(scope), scope, runId, { cursor: null, limit: 100 })
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1))
  return rows.map(({ kind, fields }) => (kind === 'update' ? fields.status : (fields.state ?? kind)))
}

describe('the timeline has the result of an update', () => {
  it('the timeline has the result of an update of a run without an owner, and the later owner continues after it', async () => {
    const scope = await workspace(test)
    const run_id = await admitted(test, scope)
    const receipt = await ask(scope, run_id)
    expect(await timelineOf(scope, run_id)).toEqual(['admitted', 'applied'])
    const { rows } = await listEvents(test.database.within(scope), scope, run_id, { cursor: null, limit: 100 })
    expect(rows[1]!.fields).toEqual({ update_id: receipt!.update_id, status: 'applied' })
    const claimed = await withinOf(scope)(tx => claimRun(tx, scope, run_id, ENGINE))
    expect(claimed).toMatchObject({ last_seq: 2 })
  })

  it('the timeline has the result of an update that its owner did not settle before it released the run', async () => {
    const scope = await workspace(test)
    const run = await owned(test, scope)
    await ask(scope, run.run_id)
    await ask(scope, run.run_id)
    await withinOf(scope)(tx => releaseRun(tx, scope, run))
    await letDeadlinePass(run.run_id)
    expect(await test.database.runs.expireUpdates(100)).toHaveLength(2)
    expect(await timelineOf(scope, run.run_id)).toEqual(['admitted', 'indeterminate', 'indeterminate'])
  })

  it('only the owner with a valid lease writes the result of an update to the timeline', async () => {
    const scope = await workspace(test)
    const run = await running(scope)
    await ask(scope, run.run_id)
    await letDeadlinePass(run.run_id)
    await test.database.runs.expireUpdates(100)
    expect(await timelineOf(scope, run.run_id)).toEqual(['admitted'])
    const update = (await readUpdate(test.database.within(scope), scope, run.run_id, 1))!
    const item = {
      at: update.completed_at!,
      offset_ms: null,
      kind: 'update',
      fields: { update_id: update.update_id, status: update.status },
    }
    expect(await withinOf(scope)(tx => appendEvents(tx, scope, run, 2, [item]))).toBe('appended')
    await end(scope, run)
    expect(await timelineOf(scope, run.run_id)).toEqual(['admitted', 'indeterminate', 'completed'])
  })

  it('the timeline has the result of an update before the final state when the owner died', async () => {
    const scope = await workspace(test)
    const run = await running(scope)
    for (let update = 1; update <= 3; update++) await ask(scope, run.run_id)
    // Settled by an owner that died before it wrote the timeline item.
    await withinOf(scope)(tx => settleUpdate(tx, scope, run, 1, { status: 'applied' }))
    await test.owner.query('update parley.run_updates set deadline = now() where run_id = $1 and revision = 2', [
      run.run_id,
    ])
    await test.database.runs.expireUpdates(100)
    await letLeaseEnd(test, run)
    const [reaped] = await test.database.runs.reap(REAPER, 1, 60_000)
    await end(scope, reaped!, { state: 'failed', engine_lost: true })
    expect(await timelineOf(scope, run.run_id)).toEqual([
      'admitted',
      'applied',
      'indeterminate',
      'indeterminate',
      'failed',
    ])
  })

  it('the timeline has the result of an update before the final state when the run ended first', async () => {
    const scope = await workspace(test)
    const run = await running(scope)
    await ask(scope, run.run_id)
    await end(scope, run)
    expect(await timelineOf(scope, run.run_id)).toEqual(['admitted', 'rejected', 'completed'])
  })
})
