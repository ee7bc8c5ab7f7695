import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHATTER, planOf, WRITER } from './testing/agents.ts'
import { TextHarness } from './testing/text-harness.ts'

let test: TestDatabase
let stage: TextHarness
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())
beforeEach(async () => {
  stage = await TextHarness.open(test)
  await stage.publish('chatter', planOf(CHATTER))
  await stage.publish('writer', planOf(WRITER))
})
afterEach(() => stage.close())

const NOBODY = { live: 0, permits: 0 }
const stateOf = async (run: string) => (await stage.read(run)).state
const running = (run: string) => stage.reaches(run, row => row.state === 'running')

describe('a run that waits', () => {
  it('a waiting run is found by the periodic poll when its wake-up was lost', async () => {
    stage.worker()
    const run = await stage.admit('task', 'writer')
    await stage.swept()
    expect((await stage.ended(run)).state).toBe('completed')
  })

  it('a run that waited 2 s without being woken is counted when a worker finds it, and a fresh run is not', async () => {
    const late = await stage.admit('task', 'writer')
    const fresh = await stage.admit('task', 'writer')
    const admittedAt = 'update parley.run_ownership set admitted_at = now() + $2::interval where run_id = $1'
    await test.owner.query(admittedAt, [late, '-2 s'])
    await test.owner.query(admittedAt, [fresh, '1 min'])
    const { runs } = stage.worker()
    for (const run of [late, fresh]) await stage.ended(run)
    await stage.eventually(() => runs.metrics.runs_woken > 0)
    expect(runs.metrics).toEqual({ runs_woken: 1 })
  })

  it('a waiting run is found by a worker that starts later', async () => {
    const run = await stage.admit('background', 'writer')
    stage.worker()
    expect((await stage.ended(run)).state).toBe('completed')
  })

  it('a queue wake-up makes a worker claim the run, and is harmless for a run that is gone or on the phone', async () => {
    const { runs } = stage.worker()
    const run = await stage.admit('task', 'writer')
    const work = { kind: 'task', run_id: run, scope: stage.scope } as const
    await Promise.all([runs.wake(work), runs.wake(work), runs.wake({ ...work, kind: 'phone' })])
    expect((await stage.ended(run)).state).toBe('completed')
    await runs.wake(work)
    expect(stage.mind.requests).toHaveLength(1)
    expect(stage.troubles).toEqual([])
  })

  it('a waiting run is claimed by exactly one of two workers', async () => {
    const workers = [stage.worker(), stage.worker()]
    const admitted = await Promise.all(Array.from({ length: 20 }, () => stage.admit('task', 'writer')))
    const wakeBoth = (run_id: string) =>
      workers.map(({ runs }) => runs.wake({ kind: 'task', run_id, scope: stage.scope }))
    await Promise.all(admitted.flatMap(wakeBoth))
    for (const run of admitted) {
      await stage.ended(run)
      const states = (await stage.timeline(run)).filter(line => line.startsWith('state'))
      expect(states).toEqual(['state admitted', 'state running', 'state ending', 'state completed'])
    }
    expect(stage.mind.requests).toHaveLength(20)
    expect(await stage.permits()).toEqual(NOBODY)
    expect(stage.troubles).toEqual([])
  })
})

describe('places for text runs', () => {
  it('a run beyond the number of places waits and gets the next free place', async () => {
    const { runs } = stage.worker({ maxLive: 2 })
    const chats = [await stage.run('chat', 'chatter'), await stage.run('chat', 'chatter')]
    await Promise.all(chats.map(running))
    const task = await stage.run('task', 'writer')
    await stage.swept()
    expect(await stateOf(task)).toBe('admitted')
    expect(runs.count('chat')).toBe(2)
    stage.mind.thinks({ take: 'the user says goodbye' })
    await stage.answer(chats[0]!, 'Bye')
    expect((await stage.ended(task)).state).toBe('completed')
    expect(await stateOf(chats[1]!)).toBe('running')
  })

  it('background runs get places that no other run needs', async () => {
    stage.worker({ maxLive: 1 })
    const chat = await stage.run('chat', 'chatter')
    await running(chat)
    const background = await stage.run('background', 'writer')
    const task = await stage.run('task', 'writer')
    stage.mind.thinks({ take: 'the user says goodbye' }, 'stalls')
    await stage.answer(chat, 'Bye')
    await running(task)
    await stage.swept()
    expect(await stateOf(background)).toBe('admitted')
    await stage.cancel(task)
    expect((await stage.ended(background)).state).toBe('completed')
  })

  it('a tenant without active runs gets a place before another tenant’s older runs', async () => {
    stage.worker({ maxLive: 2 })
    const chats = [await stage.run('chat', 'chatter'), await stage.run('chat', 'chatter')]
    await Promise.all(chats.map(running))
    const many = [await stage.run('task', 'writer'), await stage.run('task', 'writer')]
    const other = await TextHarness.open(test)
    await other.publish('writer', planOf(WRITER))
    const single = await other.admit('task', 'writer')
    stage.mind.thinks({ take: 'the user says goodbye' }, 'stalls')
    await stage.answer(chats[0]!, 'Bye')
    await other.reaches(single, row => row.state === 'running')
    expect(await Promise.all(many.map(stateOf))).toEqual(['admitted', 'admitted'])
    await stage.close()
    await other.close()
  })

  it('background runs never hold all places', async () => {
    stage.worker({ maxLive: 2 })
    stage.mind.thinks('stalls', { say: 'Done.' })
    const first = await stage.run('background', 'writer')
    await running(first)
    const second = await stage.run('background', 'writer')
    await stage.swept()
    expect(await stateOf(second)).toBe('admitted')
    const task = await stage.run('task', 'writer')
    expect((await stage.ended(task)).state).toBe('completed')
    expect(await stateOf(second)).toBe('admitted')
    await stage.cancel(first)
    await stage.ended(second)
    expect(await stage.permits()).toEqual(NOBODY)
  })
})

describe('a closing worker', () => {
  it('a closing worker claims nothing more and lets chats finish', async () => {
    const { runs } = stage.worker()
    const chat = await stage.run('chat', 'chatter')
    await running(chat)
    const closing = runs.close(3_600_000)
    const task = await stage.run('task', 'writer')
    await runs.wake({ kind: 'task', run_id: task, scope: stage.scope })
    stage.time.advance(10_000)
    stage.mind.thinks({ say: 'Fine.' }, { take: 'the user says goodbye' })
    expect((await stage.answer(chat, 'How are you?')).answer?.state).toBe('running')
    await stage.answer(chat, 'Bye')
    await closing
    expect((await stage.ended(chat)).outcome).toMatchObject({ kind: 'completed' })
    expect(await stateOf(task)).toBe('admitted')
  })

  it('a closing worker ends chats that do not finish in time, and answers waiting requests', async () => {
    const { runs } = stage.worker()
    stage.mind.thinks('stalls')
    const chat = await stage.run('chat', 'chatter')
    await running(chat)
    const message = await stage.say(chat, 'How are you?')
    await stage.eventually(() => stage.mind.requests.length === 1)
    const closing = runs.close(5000)
    stage.time.advance(5000)
    await closing
    expect(await stage.ended(chat)).toMatchObject({
      state: 'failed',
      outcome: { kind: 'error', detail: 'engine_lost', ended_by: 'system' },
      disposition: 'error',
    })
    expect((await stage.settled(chat, message)).answer).toMatchObject({
      state: 'ending',
      utterances: [{ role: 'user', text: 'How are you?' }],
    })
    expect(await stage.transcript(chat)).toMatchObject({ state: 'complete', utterances: { length: 2 } })
    expect(await stage.permits()).toEqual(NOBODY)
  })

  it('a closing worker releases a run that it just claimed', async () => {
    const { runs, leases } = stage.worker()
    const task = await stage.admit('task', 'writer')
    await Promise.all([runs.wake({ kind: 'task', run_id: task, scope: stage.scope }), runs.close(0)])
    expect(leases.size).toBe(0)
    expect(stage.mind.requests).toEqual([])
    expect(await stateOf(task)).toBe('admitted')
    stage.worker()
    expect((await stage.ended(task)).state).toBe('completed')
  })

  it('a closing worker releases a chat whose end it cannot write, and its permit stays held', async () => {
    const { runs, leases } = stage.worker()
    const chat = await stage.run('chat', 'chatter')
    await running(chat)
    stage.isAway = true
    const closing = runs.close(0)
    await stage.passing(closing)
    expect(leases.size).toBe(0)
    expect(await stateOf(chat)).toBe('running')
    expect(await stage.permits()).toEqual({ live: 1, permits: 1 })
  })
})
