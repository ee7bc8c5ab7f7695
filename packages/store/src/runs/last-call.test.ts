import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { forgetNumber } from '../staff.ts'
import { asStaff } from '../staff-connection.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { lastCall } from './last-call.ts'
import { admitted, OUTBOUND, workspace } from './runs.fixture.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const ANA = '+4930222'

/** A call that ended `daysAgo` days ago; `analysis` null: it was not analysed. */
async function ended(
  scope: Scope,
  daysAgo: number,
  summary: string | null,
  request: Partial<typeof OUTBOUND> = {},
): Promise<string> {
  const runId = await admitted(test, scope, { ...OUTBOUND, ...request })
  await test.owner.query(
    `update parley.runs set state = 'completed', ended_at = now() - $2 * interval '1 day', analysis = $3, disposition = 'completed'
     where run_id = $1`,
    [runId, daysAgo, summary === null ? null : JSON.stringify({ summary })],
  )
  return runId
}

const summaryFor = async (scope: Scope, runId: string, maxAgeDays = 90) =>
  (await lastCall(test.database.within(scope), scope, runId, maxAgeDays))?.analysis.summary ?? null

it('the last analysed call with the number is found, whoever called', async () => {
  const scope = await workspace(test)
  const now = await admitted(test, scope)
  expect(await summaryFor(scope, now)).toBeNull()
  await ended(scope, 3, 'Called us.', { mode: 'inbound', from_number: ANA, to_number: '+4930111' })
  await ended(scope, 5, 'Older.')
  await ended(scope, 1, null)
  await ended(scope, 1, 'Another number.', { to_number: '+4930999' })
  await ended(scope, 1, 'Another agent.', { agent_id: 'other' })
  await ended(scope, 1, 'A test.', { test: true })
  expect(await summaryFor(scope, now)).toBe('Called us.')
  expect(await summaryFor(scope, now, 2)).toBeNull()
  expect(await lastCall(test.database.within(scope), scope, now, 90)).toMatchObject({
    mode: 'inbound',
    disposition: 'completed',
    ended_at: expect.stringMatching(/Z$/),
  })
})

it('calls of another environment are not found', async () => {
  const [one, other] = [await workspace(test), await workspace(test)]
  await ended(other, 1, 'Theirs.')
  expect(await summaryFor(one, await admitted(test, one))).toBeNull()
})

it('a caller without a number, or with one that the carrier does not vouch for, is not remembered', async () => {
  const scope = await workspace(test)
  await ended(scope, 1, 'Known.', { mode: 'inbound', from_number: ANA })
  await ended(scope, 1, 'Withheld.', { mode: 'inbound', from_number: null })
  const called = (rest: Partial<typeof OUTBOUND>) => admitted(test, scope, { ...OUTBOUND, mode: 'inbound', ...rest })
  expect(await summaryFor(scope, await called({ from_number: null }))).toBeNull()
  const forged = await called({ from_number: ANA })
  await test.owner.query(`update parley.runs set caller_identity = '{"verification": "failed"}' where run_id = $1`, [
    forged,
  ])
  expect(await summaryFor(scope, forged)).toBeNull()
  expect(await summaryFor(scope, await called({ from_number: ANA }))).toBe('Known.')
})

it('a number that staff forget is unknown until its next call', async () => {
  const scope = await workspace(test)
  await ended(scope, 1, 'Known.')
  const forgotten = await asStaff(test.owner.url, tx => forgetNumber(tx, scope, ANA))
  expect(forgotten).toMatchObject({ phone_number: ANA })
  const now = await admitted(test, scope)
  expect(await summaryFor(scope, now)).toBeNull()
  await ended(scope, -0.001, 'Since then.')
  expect(await summaryFor(scope, now)).toBe('Since then.')
})
