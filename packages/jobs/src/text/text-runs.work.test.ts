import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHATTER, planOf, WRITER } from './testing/agents.ts'
import { TextHarness } from './testing/text-harness.ts'

let test: TestDatabase
let harness: TextHarness
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())
beforeEach(async () => {
  harness = await TextHarness.open(test)
  await harness.publish('chatter', planOf(CHATTER))
  await harness.publish('writer', planOf(WRITER))
})
afterEach(() => harness.close())

const NOBODY = { live: 0, permits: 0 }
const stateOf = async (run: string) => (await harness.read(run)).state
const running = (run: string) => harness.reaches(run, row => row.state === 'running')

describe('a run that waits', () => {
  it('a waiting run is found by the periodic poll when its wake-up was lost', async () => {
    harness.worker()
    const run = await harness.admit('task', 'writer')
    await harness.swept()
    expect((await harness.ended(run)).state).toBe('completed')
  })

  it('a run that waited 2 s without being woken is counted when a worker finds it, and a fresh run is not', async () => {
    const late = await harness.admit('task', 'writer')
    const fresh = await harness.admit('task', 'writer')
    const admittedAt = 'update parley.run_ownership set admitted_at = now() + $2::interval where run_id = $1'
    await test.owner.query(admittedAt, [late, '-2 s'])
    await test.owner.query(admittedAt, [fresh, '1 min'])
    const { runs } = harness.worker()
    for (const run of [late, fresh]) await harness.ended(run)
    await harness.eventually(() => runs.metrics.runs_woken > 0)
    expect(runs.metrics).toEqual({ runs_woken: 1 })
  })

  it('a waiting run is found by a worker that starts later', async () => {
    const run = await harness.admit('background', 'writer')
    harness.worker()
    expect((await harness.ended(run)).state).toBe('completed')
  })

  it('a queue wake-up makes a worker claim the run, and is harmless for a run that is gone or on the phone', async () => {
    const { runs } = harness.worker()
    const run = await harness.admit('task', 'writer')
    const work = { kind: 'task', run_id: run, scope: harness.scope } as const
    await Promise.all([runs.wake(work), runs.wake(work), runs.wake({ ...work, kind: 'phone' })])
    expect((await harness.ended(run)).state).toBe('completed')
    await runs.wake(work)
    expect(harness.model.requests).toHaveLength(1)
    expect(harness.problems).toEqual([])
  })

  it('a poll whose chats other workers claim first still claims the waiting background runs', async () => {
    const chat = await harness.admit('chat', 'chatter')
    const background = await harness.admit('background', 'writer')
    harness.beforeClaims = () => harness.takeOver(chat, { quietly: true })
    harness.worker()
    expect((await harness.ended(background)).state).toBe('completed')
  })

  it('a waiting run is claimed by exactly one of two workers', async () => {
    const workers = [harness.worker(), harness.worker()]
    const admitted = await Promise.all(Array.from({ length: 20 }, () => harness.admit('task', 'writer')))
    const wakeBoth = (run_id: string) =>
      workers.map(({ runs }) => runs.wake({ kind: 'task', run_id, scope: harness.scope }))
    await Promise.all(admitted.flatMap(wakeBoth))
    for (const run of admitted) {
      await harness.ended(run)
      const states = (await harness.timeline(run)).filter(line => line.startsWith('state'))
      expect(states).toEqual(['state admitted', 'state running', 'state ending', 'state completed'])
    }
    expect(harness.model.requests).toHaveLength(20)
    expect(await harness.permits()).toEqual(NOBODY)
    expect(harness.problems).toEqual([])
  })
})

describe('places for text runs', () => {
  it('a run beyond the number of places waits and gets the next free place', async () => {
    const { runs } = harness.worker({ maxLive: 2 })
    const chats = [await harness.run('chat', 'chatter'), await harness.run('chat', 'chatter')]
    await Promise.all(chats.map(running))
    const task = await harness.run('task', 'writer')
    await harness.swept()
    expect(await stateOf(task)).toBe('admitted')
    expect(runs.count('chat')).toBe(2)
    harness.model.thinks({ take: 'the user says goodbye' })
    await harness.answer(chats[0]!, 'Bye')
    expect((await harness.ended(task)).state).toBe('completed')
    expect(await stateOf(chats[1]!)).toBe('running')
  })

  it('a run that found no place gets the one that a failed claim gives back', async () => {
    const { runs } = harness.worker({ maxLive: 2 })
    await harness.swept()
    const first = await harness.admit('chat', 'chatter')
    const second = await harness.admit('chat', 'chatter')
    // Two claims of the first chat hold both places until one of them fails.
    for (const run_id of [first, first, second]) void runs.wake({ kind: 'chat', run_id, scope: harness.scope })
    await Promise.all([first, second].map(running))
  })

  it('background runs get places that no other run needs', async () => {
    harness.worker({ maxLive: 1 })
    const chat = await harness.run('chat', 'chatter')
    await running(chat)
    const background = await harness.run('background', 'writer')
    const task = await harness.run('task', 'writer')
    harness.model.thinks({ take: 'the user says goodbye' }, 'stalls')
    await harness.answer(chat, 'Bye')
    await running(task)
    await harness.swept()
    expect(await stateOf(background)).toBe('admitted')
    await harness.cancel(task)
    expect((await harness.ended(background)).state).toBe('completed')
  })

  it('a tenant without active runs gets a place before another tenant’s older runs', async () => {
    harness.worker({ maxLive: 2 })
    const chats = [await harness.run('chat', 'chatter'), await harness.run('chat', 'chatter')]
    await Promise.all(chats.map(running))
    const many = [await harness.run('task', 'writer'), await harness.run('task', 'writer')]
    const other = await TextHarness.open(test)
    await other.publish('writer', planOf(WRITER))
    const single = await other.admit('task', 'writer')
    harness.model.thinks({ take: 'the user says goodbye' }, 'stalls')
    await harness.answer(chats[0]!, 'Bye')
    await other.reaches(single, row => row.state === 'running')
    expect(await Promise.all(many.map(stateOf))).toEqual(['admitted', 'admitted'])
    await harness.close()
    await other.close()
  })

  it('background runs never hold all places', async () => {
    harness.worker({ maxLive: 2 })
    harness.model.thinks('stalls', { say: 'Done.' })
    const first = await harness.run('background', 'writer')
    await running(first)
    const second = await harness.run('background', 'writer')
    await harness.swept()
    expect(await stateOf(second)).toBe('admitted')
    const task = await harness.run('task', 'writer')
    expect((await harness.ended(task)).state).toBe('completed')
    expect(await stateOf(second)).toBe('admitted')
    await harness.cancel(first)
    await harness.ended(second)
    expect(await harness.permits()).toEqual(NOBODY)
  })
})

describe('a closing worker', () => {
  it('a closing worker claims nothing more and lets chats finish', async () => {
    const { runs } = harness.worker()
    const chat = await harness.run('chat', 'chatter')
    await running(chat)
    const closing = runs.close(3_600_000)
    const task = await harness.run('task', 'writer')
    await runs.wake({ kind: 'task', run_id: task, scope: harness.scope })
    harness.time.advance(10_000)
    harness.model.thinks({ say: 'Fine.' }, { take: 'the user says goodbye' })
    expect((await harness.answer(chat, 'How are you?')).answer?.state).toBe('running')
    await harness.answer(chat, 'Bye')
    await closing
    expect((await harness.ended(chat)).outcome).toMatchObject({ kind: 'completed' })
    expect(await stateOf(task)).toBe('admitted')
  })

  it('a closing worker ends chats that do not finish in time, and answers waiting requests', async () => {
    const { runs } = harness.worker()
    harness.model.thinks('stalls')
    const chat = await harness.run('chat', 'chatter')
    await running(chat)
    const message = await harness.say(chat, 'How are you?')
    await harness.eventually(() => harness.model.requests.length === 1)
    const closing = runs.close(5000)
    harness.time.advance(5000)
    await closing
    expect(await harness.ended(chat)).toMatchObject({
      state: 'failed',
      outcome: { kind: 'error', detail: 'engine_lost', ended_by: 'system' },
      disposition: 'error',
    })
    expect((await harness.settled(message)).answer).toMatchObject({
      state: 'ending',
      utterances: [{ role: 'user', text: 'How are you?' }],
    })
    expect(await harness.transcript(chat)).toMatchObject({ state: 'complete', utterances: { length: 2 } })
    expect(await harness.permits()).toEqual(NOBODY)
  })

  it('a closing worker releases a run that it just claimed', async () => {
    const { runs, leases } = harness.worker()
    const task = await harness.admit('task', 'writer')
    await Promise.all([runs.wake({ kind: 'task', run_id: task, scope: harness.scope }), runs.close(0)])
    expect(leases.size).toBe(0)
    expect(harness.model.requests).toEqual([])
    expect(await stateOf(task)).toBe('admitted')
    harness.worker()
    expect((await harness.ended(task)).state).toBe('completed')
  })

  it('a closing worker releases a chat whose end it cannot write, and its permit stays held', async () => {
    const { runs, leases } = harness.worker()
    const chat = await harness.run('chat', 'chatter')
    await running(chat)
    harness.isAway = true
    const closing = runs.close(0)
    await harness.passing(closing)
    expect(leases.size).toBe(0)
    expect(await stateOf(chat)).toBe('running')
    expect(await harness.permits()).toEqual({ live: 1, permits: 1 })
  })
})
