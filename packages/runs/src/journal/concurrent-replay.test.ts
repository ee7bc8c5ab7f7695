import { letLeaseEnd } from '@parley/store/testing'
import { Client } from 'pg'
import { expect, it, vi } from 'vitest'
import { JournalHarness, say, upTo } from './testing/journal-harness.ts'

const stage = JournalHarness.forEachTest()

it('journal replay continues where a killed process stopped replaying', async () => {
  const { run } = stage.doomed
  stage.goAway()
  say(run, 0, 700)
  await stage.kept(run, 700)
  let commits = 0
  stage.relay.onClientData = piece => {
    if (!piece.includes('commit\0') || ++commits < 3) return true
    stage.relay.closed = true
    return false
  }
  stage.relay.closed = false
  await vi.waitFor(() => expect(stage.relay.closed).toBe(true), { timeout: 5000 })
  stage.doomed.kill()
  expect(await stage.digitsOf(run.runId)).toEqual(upTo(400))
  await stage.nextProcess()
  expect(await stage.digitsOf(run.runId)).toEqual(upTo(700))
  expect(stage.problems).toEqual([])
})

it('journal replay waits for an open transaction of the dead process', async () => {
  const { run } = stage.doomed
  stage.goAway()
  say(run, 0, 30)
  await stage.kept(run, 30)
  stage.doomed.kill()
  await letLeaseEnd(stage.test, run.owned)
  const owner = new Client({ connectionString: stage.test.owner.url })
  await owner.connect()
  try {
    await owner.query('begin')
    await owner.query('select from parley.run_ownership where run_id = $1 for no key update', [run.runId])
    let isDone = false
    const landing = stage.nextProcess().finally(() => {
      isDone = true
    })
    await vi.waitFor(() => expect(stage.renewals.mock.calls.length).toBeGreaterThan(2), { timeout: 10_000 })
    expect(isDone).toBe(false)
    expect(await stage.journals()).toHaveLength(1)
    await owner.query('rollback')
    await landing
  } finally {
    await owner.end()
  }
  expect(await stage.digitsOf(run.runId)).toEqual(upTo(30))
  expect(stage.problems).toEqual([])
})

it('the reaper leaves runs alone whose journals wait for replay, and replay writes many batches at once', async () => {
  const other = await stage.held()
  try {
    const [first, second] = [stage.doomed.run, other.run].sort((a, b) => (a.runId < b.runId ? -1 : 1))
    stage.goAway()
    for (let i = 0; i < 4; i++) {
      say(second!, 10 * i, 10 * i + 10)
      await stage.kept(second!, 10 * i + 10)
    }
    say(first!, 0, 1)
    await stage.kept(first!, 1)
    stage.doomed.kill()
    other.kill()
    await letLeaseEnd(stage.test, first!.owned)
    await letLeaseEnd(stage.test, second!.owned)
    const owner = new Client({ connectionString: stage.test.owner.url })
    await owner.connect()
    try {
      // The first cannot be written for as long as this is not taken back.
      await owner.query('begin')
      await owner.query(
        "insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields) values ($1, $2, 2, now(), 'obstacle', '{}')",
        [stage.scope.tenant_id, first!.runId],
      )
      const landing = stage.nextProcess()
      const text = 'select 1 from parley.run_ownership where run_id = $1 and lease_until > clock_timestamp()'
      const isHeld = async () => expect((await stage.test.owner.query(text, [second!.runId])).rows).toHaveLength(1)
      await vi.waitFor(isHeld, { timeout: 10_000 })
      // Longer than a lease: it is renewed again and again.
      const before = stage.renewals.mock.calls.length
      await vi.waitFor(() => expect(stage.renewals.mock.calls.length).toBeGreaterThan(before + 3), { timeout: 15_000 })
      const reaped = await stage.test.database.runs.reap({ engine: 'worker', worker: 'reaper' }, 10)
      expect(reaped.map(({ run_id }) => run_id)).not.toContain(second!.runId)
      await owner.query('rollback')
      await landing
    } finally {
      await owner.end()
    }
    expect(await stage.digitsOf(first!.runId)).toEqual(upTo(1))
    expect(await stage.digitsOf(second!.runId)).toEqual(upTo(40))
    const text = "select distinct xmin::text from parley.run_events where run_id = $1 and kind = 'digits'"
    expect((await stage.test.owner.query(text, [second!.runId])).rows).toHaveLength(1)
    expect(stage.problems).toEqual([])
    expect(await stage.journals()).toEqual([])
  } finally {
    other.kill()
  }
}, 60_000)
