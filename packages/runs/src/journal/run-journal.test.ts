import { expect, it, vi } from 'vitest'
import { ENDED, JournalHarness, say, upTo } from './testing/journal-harness.ts'

const stage = JournalHarness.forEachTest()

it('a run journal writes no file while the database answers', async () => {
  const { run } = stage.doomed
  say(run, 0, 300)
  await vi.waitFor(async () => expect(await stage.digitsOf(run.runId)).toEqual(upTo(300)))
  expect(await stage.journals()).toEqual([])
})

it.each([{ becomes: 'killed' }, { becomes: 'on its own again' }])(
  'a commit whose answer was lost is not written twice: $becomes',
  async ({ becomes }) => {
    const { run } = stage.doomed
    stage.loseAnswerToCommit()
    say(run, 0, 10)
    await vi.waitFor(async () => expect(await stage.digitsOf(run.runId)).toEqual(upTo(10)))
    say(run, 10, 20)
    await stage.kept(run, 20)
    if (becomes === 'killed') {
      stage.doomed.kill()
      await stage.nextProcess()
    } else stage.relay.closed = false
    await vi.waitFor(async () => expect(await stage.digitsOf(run.runId)).toEqual(upTo(20)), { timeout: 5000 })
    await vi.waitFor(async () => expect(await stage.journals()).toEqual([]))
    expect(stage.problems).toEqual([])
  },
)

it.each([{ becomes: 'killed' }, { becomes: 'on its own again' }])(
  'an item that was alone in a commit whose answer was lost is published once: $becomes',
  async ({ becomes }) => {
    const { run } = stage.doomed
    const announced = async () => {
      const text = "select event from parley.outbox where run_id = $1 and event = 'run.transfer'"
      return (await stage.test.owner.query(text, [run.runId])).rows.length
    }
    stage.loseAnswerToCommit()
    run.announce('run.transfer')
    await vi.waitFor(async () => expect(await announced()).toBe(1))
    say(run, 0, 10)
    await stage.kept(run, 10)
    if (becomes === 'killed') {
      stage.doomed.kill()
      await stage.nextProcess()
    } else stage.relay.closed = false
    await vi.waitFor(async () => expect(await stage.digitsOf(run.runId)).toEqual(upTo(10)), { timeout: 5000 })
    expect(await announced()).toBe(1)
    // Another transfer is another event.
    if (becomes === 'killed') return
    run.announce('run.transfer')
    await vi.waitFor(async () => expect(await announced()).toBe(2))
  },
)

it('a run journal resumes writing in order when the database is back', async () => {
  const { run } = stage.doomed
  stage.goAway()
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  say(run, 0, 250)
  await stage.kept(run, 251)
  say(run, 250, 500)
  stage.relay.closed = false
  say(run, 500, 510)
  expect(await run.finish(ENDED)).toBe('finished')
  expect(await stage.digitsOf(run.runId)).toEqual(upTo(510))
  expect(await stage.journals()).toEqual([])
})
