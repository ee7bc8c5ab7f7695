import { commits, letLeaseEnd } from '@parley/store/testing'
import { Client } from 'pg'
import { expect, it, vi } from 'vitest'
import { JournalHarness, noteDigits, upTo } from './testing/journal-harness.ts'

/** Ends only what hangs: this test runs with a low priority. */
const WAIT_MS = 60_000

const harness = JournalHarness.forEachTest()

it('journal replay continues where a killed process stopped replaying', async () => {
  const { run } = harness.killable
  harness.disconnect()
  noteDigits(run, 0, 700)
  await harness.waitForRecords(run, 700)
  let committed = 0
  harness.relay.onClientData = piece => {
    if (!commits(piece) || ++committed < 3) return true
    harness.relay.closed = true
    return false
  }
  harness.relay.closed = false
  await vi.waitFor(() => expect(harness.relay.closed).toBe(true))
  harness.killable.kill()
  expect(await harness.digitsOf(run.runId)).toEqual(upTo(400))
  await harness.nextProcess()
  expect(await harness.digitsOf(run.runId)).toEqual(upTo(700))
  expect(harness.problems).toEqual([])
})

it('journal replay waits for an open transaction of the dead process', async () => {
  const { run } = harness.killable
  harness.disconnect()
  noteDigits(run, 0, 30)
  await harness.waitForRecords(run, 30)
  harness.killable.kill()
  await letLeaseEnd(harness.test, run.owned)
  const owner = new Client({ connectionString: harness.test.owner.url })
  await owner.connect()
  try {
    await owner.query('begin')
    await owner.query('select from parley.run_ownership where run_id = $1 for no key update', [run.runId])
    let isDone = false
    const landing = harness.nextProcess().finally(() => {
      isDone = true
    })
    await vi.waitFor(() => expect(harness.renewals.mock.calls.length).toBeGreaterThan(2), { timeout: WAIT_MS })
    expect(isDone).toBe(false)
    expect(await harness.journals()).toHaveLength(1)
    await owner.query('rollback')
    await landing
  } finally {
    await owner.end()
  }
  expect(await harness.digitsOf(run.runId)).toEqual(upTo(30))
  expect(harness.problems).toEqual([])
})

it('the reaper leaves runs alone whose journals wait for replay, and replay writes many batches at once', async () => {
  const other = await harness.ownedRun()
  try {
    const [first, second] = [harness.killable.run, other.run].sort((a, b) => (a.runId < b.runId ? -1 : 1))
    harness.disconnect()
    for (let i = 0; i < 4; i++) {
      noteDigits(second!, 10 * i, 10 * i + 10)
      await harness.waitForRecords(second!, 10 * i + 10)
    }
    noteDigits(first!, 0, 1)
    await harness.waitForRecords(first!, 1)
    harness.killable.kill()
    other.kill()
    await letLeaseEnd(harness.test, first!.owned)
    await letLeaseEnd(harness.test, second!.owned)
    const owner = new Client({ connectionString: harness.test.owner.url })
    await owner.connect()
    try {
      // The first cannot be written for as long as this is not taken back.
      await owner.query('begin')
      await owner.query(
        "insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields) values ($1, $2, 2, now(), 'obstacle', '{}')",
        [harness.scope.tenant_id, first!.runId],
      )
      const landing = harness.nextProcess()
      const text = 'select 1 from parley.run_ownership where run_id = $1 and lease_until > clock_timestamp()'
      const isHeld = async () => expect((await harness.test.owner.query(text, [second!.runId])).rows).toHaveLength(1)
      await vi.waitFor(isHeld, { timeout: WAIT_MS })
      // Longer than a lease: it is renewed again and again.
      const before = harness.renewals.mock.calls.length
      await vi.waitFor(() => expect(harness.renewals.mock.calls.length).toBeGreaterThan(before + 3), {
        timeout: WAIT_MS,
      })
      await vi.waitFor(isHeld, { timeout: WAIT_MS })
      const reaped = await harness.test.database.runs.reap({ engine: 'worker', worker: 'reaper' }, 10)
      expect(reaped.map(({ run_id }) => run_id)).not.toContain(second!.runId)
      await owner.query('rollback')
      await landing
    } finally {
      await owner.end()
    }
    expect(await harness.digitsOf(first!.runId)).toEqual(upTo(1))
    expect(await harness.digitsOf(second!.runId)).toEqual(upTo(40))
    const text = "select distinct xmin::text from parley.run_events where run_id = $1 and kind = 'digits'"
    expect((await harness.test.owner.query(text, [second!.runId])).rows).toHaveLength(1)
    expect(harness.problems).toEqual([])
    expect(await harness.journals()).toEqual([])
  } finally {
    other.kill()
  }
})
