import { expect, it, vi } from 'vitest'
import { ENDED, JournalHarness, noteDigits, upTo } from './testing/journal-harness.ts'

const harness = JournalHarness.forEachTest()

it('a run journal writes no file while the database answers', async () => {
  const { run } = harness.killable
  noteDigits(run, 0, 300)
  await vi.waitFor(async () => expect(await harness.digitsOf(run.runId)).toEqual(upTo(300)))
  expect(await harness.journals()).toEqual([])
})

it.each([{ becomes: 'killed' }, { becomes: 'on its own again' }])(
  'a commit whose answer was lost is not written twice: $becomes',
  async ({ becomes }) => {
    const { run } = harness.killable
    harness.loseAnswerToCommit()
    noteDigits(run, 0, 10)
    await vi.waitFor(async () => expect(await harness.digitsOf(run.runId)).toEqual(upTo(10)))
    noteDigits(run, 10, 20)
    await harness.waitForRecords(run, 20)
    if (becomes === 'killed') {
      harness.killable.kill()
      await harness.nextProcess()
    } else harness.relay.closed = false
    await vi.waitFor(async () => expect(await harness.digitsOf(run.runId)).toEqual(upTo(20)))
    await vi.waitFor(async () => expect(await harness.journals()).toEqual([]))
    expect(harness.problems).toEqual([])
  },
)

it.each([{ becomes: 'killed' }, { becomes: 'on its own again' }])(
  'an item that was alone in a commit whose answer was lost is published once: $becomes',
  async ({ becomes }) => {
    const { run } = harness.killable
    const announced = async () => {
      const text = "select event from parley.outbox where run_id = $1 and event = 'run.transfer'"
      return (await harness.test.owner.query(text, [run.runId])).rows.length
    }
    harness.loseAnswerToCommit()
    run.announce('run.transfer')
    await vi.waitFor(async () => expect(await announced()).toBe(1))
    noteDigits(run, 0, 10)
    await harness.waitForRecords(run, 10)
    if (becomes === 'killed') {
      harness.killable.kill()
      await harness.nextProcess()
    } else harness.relay.closed = false
    await vi.waitFor(async () => expect(await harness.digitsOf(run.runId)).toEqual(upTo(10)))
    expect(await announced()).toBe(1)
    // Another transfer is another event.
    if (becomes === 'killed') return
    run.announce('run.transfer')
    await vi.waitFor(async () => expect(await announced()).toBe(2))
  },
)

it('a run journal resumes writing in order when the database is back', async () => {
  const { run } = harness.killable
  harness.disconnect()
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  noteDigits(run, 0, 250)
  await harness.waitForRecords(run, 251)
  noteDigits(run, 250, 500)
  harness.relay.closed = false
  noteDigits(run, 500, 510)
  expect(await run.finish(ENDED)).toBe('finished')
  expect(await harness.digitsOf(run.runId)).toEqual(upTo(510))
  expect(await harness.journals()).toEqual([])
})
