import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { letLeaseEnd, talesOn, workspace } from './runs.fixture.ts'
import { listSipMessages, type SipMessageRow, storeSipMessages } from './sip-messages.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const { withinOf, running, end } = talesOn(() => test)

function message(place: number, text: string | null): SipMessageRow {
  return {
    place,
    at: '2026-01-02T03:04:05.678Z',
    direction: 'in',
    transport: 'tls',
    source: '192.0.2.1:5061',
    destination: '192.0.2.2:5061',
    message: text,
  }
}

it('the SIP messages of a run are listed in order, and a repeated write stores them once', async () => {
  const scope = await workspace(test)
  const run = await running(scope)
  const store = (...messages: readonly SipMessageRow[]) =>
    withinOf(scope)(tx => storeSipMessages(tx, scope, run, messages))
  expect(await store(message(2, 'ACK'), message(3, null))).toBe('stored')
  expect(await store(message(1, 'INVITE'), message(2, 'ACK'))).toBe('stored')
  expect(await listSipMessages(test.database.within(scope), scope, run.run_id)).toEqual([
    message(1, 'INVITE'),
    message(2, 'ACK'),
    message(3, null),
  ])
})

it('a process that lost the run stores no SIP message', async () => {
  const scope = await workspace(test)
  const run = await running(scope)
  await letLeaseEnd(test, run)
  expect(await withinOf(scope)(tx => storeSipMessages(tx, scope, run, [message(1, 'INVITE')]))).toBe('lost')
  expect(await listSipMessages(test.database.within(scope), scope, run.run_id)).toEqual([])
})

it('the SIP messages of a run are deleted with its transcript', async () => {
  const scope = await workspace(test)
  const run = await running(scope)
  await withinOf(scope)(tx => storeSipMessages(tx, scope, run, [message(1, 'INVITE')]))
  await end(scope, run)
  await test.owner.query("update parley.runs set ended_at = now() - interval '400 days' where run_id = $1", [
    run.run_id,
  ])
  expect(await test.database.contents.expireTranscripts(100)).toBe(1)
  expect(await listSipMessages(test.database.within(scope), scope, run.run_id)).toEqual([])
})
