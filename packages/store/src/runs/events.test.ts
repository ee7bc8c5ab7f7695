import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { appendEvents, eventsAfter, listEvents } from './events.ts'
import { finishRun } from './finish.ts'
import { moveRun, ownsRun } from './ownership.ts'
import { COMPLETED, owned, pressed, workspace } from './runs.fixture.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
  scope = await workspace(test, { capacity: 10_000 })
})
afterAll(() => test?.close())

const within = <Result>(work: (tx: Queries) => Promise<Result>) => test.database.transaction(scope, work)

describe('the timeline', () => {
  it('the timeline has neither gaps nor duplicates after repeated writes', async () => {
    const run = await owned(test, scope)
    const append = (first: number, ...texts: string[]) =>
      within(tx => appendEvents(tx, scope, run, first, texts.map(pressed)))
    expect(await append(2, 'a', 'b')).toBe('appended')
    expect(await append(2, 'a', 'b')).toEqual({ kind: 'out_of_sequence', last_seq: 3 })
    expect(await append(5, 'd')).toEqual({ kind: 'out_of_sequence', last_seq: 3 })
    expect(await append(4)).toBe('appended')
    const racers = await Promise.all(Array.from({ length: 6 }, (_, index) => append(4, `r${index}`, 'x')))
    expect(racers.filter(answer => answer === 'appended')).toHaveLength(1)
    const db = test.database.within(scope)
    const first = await listEvents(db, scope, run.run_id, { cursor: null, limit: 3 })
    expect(first.rows.map(row => row.seq)).toEqual([1, 2, 3])
    expect(first.rows[1]).toEqual({ seq: 2, ...pressed('a') })
    const rest = await listEvents(db, scope, run.run_id, { cursor: first.next_cursor, limit: 3 })
    expect(rest).toMatchObject({ rows: [{ seq: 4 }, { seq: 5 }], next_cursor: null })
    expect((await eventsAfter(db, scope, run.run_id, 4, 10)).map(row => row.seq)).toEqual([5])
  })

  it('the timeline ends with the terminal state after the last items; items with a gap do not end the run', async () => {
    const run = await owned(test, scope)
    await within(tx => moveRun(tx, scope, run, { state: 'running', phone_state: 'active' }))
    const finish = (first: number) =>
      within(tx => finishRun(tx, scope, run, COMPLETED, { events: { first, items: [pressed('9')] } }))
    expect(await finish(3)).toEqual({ kind: 'out_of_sequence', last_seq: 1 })
    expect(await within(tx => ownsRun(tx, scope, run))).toBe(true)
    expect(await finish(2)).toBe('finished')
    const { rows } = await listEvents(test.database.within(scope), scope, run.run_id, { cursor: null, limit: 9 })
    expect(rows.map(row => [row.seq, row.kind])).toEqual([
      [1, 'state'],
      [2, 'digits'],
      [3, 'state'],
    ])
    expect(rows[2]!.fields).toEqual({ state: 'completed', phone_state: 'ended' })
  })
})
