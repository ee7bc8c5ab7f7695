import { admitRun } from '@parley/store'
import { OUTBOUND, type TestDatabase, testDatabase, workspace } from '@parley/store/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startingCall, textOf } from './call-memory.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

it('an agent that remembers calls gets {{last_call}}, which a variable of the run replaces; one that does not gets nothing', async () => {
  const scope = await workspace(test)
  const admit = async (name: Record<string, string>) => {
    const admission = await test.database.transaction(scope, tx =>
      admitRun(tx, scope, { ...OUTBOUND, dynamic_variables: name }),
    )
    if (admission.kind !== 'admitted') throw new Error(admission.reason)
    return admission.run_id
  }
  const earlier = await admit({})
  await test.owner.query(
    `update parley.runs set state = 'completed', ended_at = now(), disposition = 'completed', analysis = '{"summary": "Booked Monday."}'
     where run_id = $1`,
    [earlier],
  )
  const problems: unknown[] = []
  const variables = async (runId: string) =>
    (await startingCall(test.database, scope, runId, (what, error) => problems.push([what, error])))?.dynamic_variables
  const now = await admit({ name: 'Ana' })
  expect(await variables(now)).toEqual({ name: 'Ana' })
  await test.owner.query('alter table parley.publications disable trigger user')
  const remember = (callMemory: object) =>
    test.owner.query('update parley.publications set plan = $2 where tenant_id = $1', [
      scope.tenant_id,
      JSON.stringify({ settings: { callMemory } }),
    ])
  await remember({ enabled: false })
  expect(await variables(now)).toEqual({ name: 'Ana' })
  await remember({ enabled: true })
  expect(await variables(now)).toEqual({
    name: 'Ana',
    last_call: expect.stringMatching(/^\d{4}-\d\d-\d\d, the agent called: completed\. Booked Monday\.$/),
  })
  expect(await variables(await admit({ last_call: 'Mine.' }))).toEqual({ last_call: 'Mine.' })
  const age = (days: number) =>
    test.owner.query("update parley.runs set ended_at = now() - $2 * interval '1 day' where run_id = $1", [
      earlier,
      days,
    ])
  await age(5)
  await remember({ enabled: true, maxAgeDays: 4 })
  expect(await variables(now)).toEqual({ name: 'Ana' })
  await remember({ enabled: true })
  expect(await variables(now)).toHaveProperty('last_call')
  await age(91)
  expect(await variables(now)).toEqual({ name: 'Ana' })
  expect(problems).toEqual([])
})

const call = {
  mode: 'inbound',
  ended_at: '2026-01-05T12:00:00.000Z',
  disposition: 'completed',
  analysis: { summary: 'Ana moved her visit.', custom: { day: 'Monday', doctor: null, paid: false } },
} as const

it('the memory of a call says when it was, who called, what came of it and what was agreed', () => {
  expect(textOf(call)).toBe('2026-01-05, the caller called: completed. Ana moved her visit. day: Monday; paid: false')
  expect(textOf({ ...call, mode: 'outbound', disposition: null, analysis: { summary: null } })).toBe(
    '2026-01-05, the agent called.',
  )
})

it('the memory of a call has at most 2,000 characters', () => {
  expect(textOf({ ...call, analysis: { summary: 'x'.repeat(8000), custom: {} } })).toHaveLength(2000)
})
