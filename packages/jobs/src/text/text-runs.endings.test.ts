import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JobsError } from '../errors.ts'
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
const PATIENT = { maxCallDurationMs: 86_400_000, endCallAfterSilenceMs: 60_000 }

/** A chat that has greeted. */
async function greeted(agent = 'chatter'): Promise<string> {
  const run = await stage.run('chat', agent)
  await stage.eventually(async () => (await stage.timeline(run)).includes('agent: Hello Ada.'))
  return run
}

describe('a chat in which nobody says anything', () => {
  it('a chat without messages ends after the silence limit of its agent', async () => {
    await stage.publish('patient', planOf(CHATTER, { settings: PATIENT }))
    stage.worker()
    const run = await greeted('patient')
    stage.time.advance(50_000)
    await stage.answer(run, 'Hello?')
    const answeredAt = stage.time.now()
    // The silence after an answer counts from when the chat listens again, which nobody sees.
    const over = await stage.eventually(async () => {
      const row = await stage.read(run)
      if (row.ended_at === null) stage.time.advance(500)
      return row.ended_at !== null && row
    })
    expect(stage.time.now() - answeredAt).toBeGreaterThanOrEqual(60_000)
    expect(over).toMatchObject({
      state: 'completed',
      outcome: { kind: 'silence', ended_by: 'system' },
      disposition: 'silence',
    })
    expect(await stage.permits()).toEqual(NOBODY)
  })

  it('a message whose notification was lost still breaks the silence of a chat', async () => {
    await stage.publish('patient', planOf(CHATTER, { settings: PATIENT }))
    stage.worker()
    const run = await greeted('patient')
    const message = await stage.post(run, 'Is anybody there?')
    stage.time.advance(60_000)
    expect((await stage.settled(run, message)).answer?.utterances).toHaveLength(2)
    expect((await stage.read(run)).state).toBe('running')
  })

  it('the agent opens a chat when the user who should begin stays silent', async () => {
    const flow = { start_speaker: 'user', begin_after_user_silence_ms: 3000 } as const
    await stage.publish('shy', planOf(CHATTER, { flow }))
    stage.worker()
    const run = await stage.run('chat', 'shy')
    await stage.eventually(async () => (await stage.timeline(run)).includes('node talk'))
    expect(await stage.timeline(run)).not.toContain('agent: Hello Ada.')
    stage.time.advance(3000)
    await stage.eventually(async () => (await stage.timeline(run)).includes('agent: Hello Ada.'))
  })
})

describe('a run that takes too long', () => {
  it('a text run ends at its maximum duration', async () => {
    const settings = { maxCallDurationMs: 1_800_000, endCallAfterSilenceMs: 3_600_000 }
    await stage.publish('talkative', planOf(CHATTER, { settings }))
    stage.worker()
    const run = await greeted('talkative')
    stage.time.advance(1_800_000)
    expect(await stage.ended(run)).toMatchObject({
      state: 'completed',
      outcome: { kind: 'max_duration', ended_by: 'system' },
    })
    expect(await stage.permits()).toEqual(NOBODY)
  })
})

describe('a run that is cancelled', () => {
  const CANCELLED = {
    state: 'cancelled',
    outcome: { kind: 'cancelled', detail: null, ended_by: 'operator' },
    disposition: 'cancelled',
  }

  it('a cancelled chat aborts its turn and answers with the partial reply', async () => {
    stage.worker()
    const run = await greeted()
    stage.mind.thinks('stalls')
    const message = await stage.say(run, 'Tell me everything.')
    await stage.eventually(() => stage.mind.requests.length === 1)
    await stage.cancel(run)
    expect(await stage.ended(run)).toMatchObject(CANCELLED)
    expect(stage.mind.givenUp).toBe(1)
    expect((await stage.settled(run, message)).answer).toMatchObject({
      state: 'ending',
      utterances: [{ role: 'user', text: 'Tell me everything.' }],
    })
    expect(await stage.transcript(run)).toMatchObject({ state: 'complete', utterances: { length: 2 } })
    expect((await stage.timeline(run)).slice(-2)).toEqual(['state ending', 'state cancelled'])
    expect(await stage.announced(run)).toEqual(['run.started', 'run.ended'])
    expect(await stage.permits()).toEqual(NOBODY)
    await expect(stage.say(run, 'Hello?')).rejects.toThrow('run_ended')
  })

  it('a cancelled run ends while its agent is still being prepared', async () => {
    let isAsked = false
    stage.agent = () => {
      isAsked = true
      return new Promise(() => {})
    }
    stage.worker()
    const run = await stage.run('task', 'writer')
    await stage.eventually(() => isAsked)
    await stage.cancel(run)
    expect(await stage.ended(run)).toMatchObject(CANCELLED)
    expect(await stage.permits()).toEqual(NOBODY)
  })
})

describe('a run whose model cannot be had', () => {
  const FAILED = {
    state: 'failed',
    outcome: { kind: 'error', detail: 'provider_failed', ended_by: 'system' },
    disposition: 'error',
  }

  it('a run fails at the start when its model is unavailable, with the error in its timeline', async () => {
    stage.agent = () => Promise.reject(new JobsError('model_not_ready', 'the model needs OPENAI_API_KEY'))
    stage.worker()
    const run = await stage.run('task', 'writer')
    expect(await stage.ended(run)).toMatchObject(FAILED)
    expect(await stage.timeline(run)).toEqual([
      'state admitted',
      'state running',
      'error model_not_ready',
      'state failed',
    ])
    expect(await stage.permits()).toEqual(NOBODY)
    expect(stage.troubles).toEqual([])
  })

  it('a run fails when its model does not become ready in time', async () => {
    let isAsked = false
    stage.agent = () => {
      isAsked = true
      return new Promise(() => {})
    }
    stage.worker()
    const run = await stage.run('task', 'writer')
    await stage.eventually(() => isAsked)
    stage.time.advance(30_000)
    expect(await stage.ended(run)).toMatchObject(FAILED)
    expect(await stage.timeline(run)).toContain('error agent_not_ready')
  })

  it('a task fails at once when its model fails', async () => {
    stage.worker()
    stage.mind.thinks('fails')
    const run = await stage.run('task', 'writer')
    expect(await stage.ended(run)).toMatchObject(FAILED)
    expect(await stage.permits()).toEqual(NOBODY)
  })

  it('a chat apologises when its model fails, and fails when the model fails repeatedly', async () => {
    stage.worker()
    const run = await greeted()
    stage.mind.thinks('fails', 'fails', 'fails')
    const first = await stage.answer(run, 'One')
    expect(first.answer).toMatchObject({ state: 'running', utterances: [{ role: 'user' }, { role: 'agent' }] })
    await stage.answer(run, 'Two')
    expect((await stage.answer(run, 'Three')).answer?.state).toBe('ending')
    expect(await stage.ended(run)).toMatchObject(FAILED)
  })

  it('a programming error ends a run as internal, and its details appear in the log only', async () => {
    stage.agent = () => Promise.reject(new TypeError('secret details'))
    stage.worker()
    const run = await stage.run('task', 'writer')
    expect(await stage.ended(run)).toMatchObject({ state: 'failed', outcome: { detail: 'internal' } })
    expect(await stage.timeline(run)).toContain('error internal')
    expect(stage.troubles).toEqual([expect.stringContaining('secret details')])
    expect(await stage.permits()).toEqual(NOBODY)
  })
})

describe('a run that somebody else took over', () => {
  it('a run taken over by another process is released in mid-turn without a write or an answer', async () => {
    const { runs, leases } = stage.worker()
    const run = await greeted()
    stage.mind.thinks('stalls')
    const message = await stage.say(run, 'Tell me everything.')
    const before = await stage.eventually(async () => {
      const timeline = await stage.timeline(run)
      return timeline.includes('user: Tell me everything.') ? timeline : null
    })
    await stage.takeOver(run)
    await stage.eventually(() => runs.count('chat') === 0)
    expect(stage.mind.givenUp).toBe(1)
    expect(leases.size).toBe(0)
    expect(await stage.timeline(run)).toEqual(before)
    expect((await stage.read(run)).state).toBe('running')
    expect(await stage.transcript(run)).toMatchObject({ state: 'partial' })
    expect(await stage.message(run, message)).toMatchObject({ state: 'taken', answer: null })
    expect(await stage.announced(run)).toEqual(['run.started'])
    expect(await stage.permits()).toEqual({ live: 1, permits: 1 })
  })
})

describe('a database that is away', () => {
  it('a message gets one turn when the answer to its commit was lost', async () => {
    stage.worker()
    const run = await greeted()
    for (const [turn, text] of ['One', 'Two', 'Three'].entries()) {
      stage.cutCommits = 1 + turn
      const message = await stage.say(run, text)
      const settled = stage.passing(stage.settled(run, message))
      expect((await settled).answer).toMatchObject({ state: 'running', utterances: [{ text }, { text: 'Yes.' }] })
    }
    expect(stage.mind.requests).toHaveLength(3)
    expect((await stage.read(run)).state).toBe('running')
  })

  it('a database outage delays the answer and the end of a chat and loses neither', async () => {
    stage.worker()
    const run = await greeted()
    stage.mind.thinks({ take: 'the user says goodbye' })
    stage.isAway = true
    const message = await stage.say(run, 'Bye')
    await stage.eventually(() => stage.refusals > 0)
    expect((await stage.message(run, message))?.state).toBe('waiting')
    stage.isAway = false
    stage.time.advance(250)
    expect((await stage.settled(run, message)).answer).toMatchObject({ state: 'ending' })
    expect((await stage.ended(run)).state).toBe('completed')
    expect(await stage.permits()).toEqual(NOBODY)
  })
})
