import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JobsError } from '../errors.ts'
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
const PATIENT = { maxCallDurationMs: 86_400_000, endCallAfterSilenceMs: 60_000 }

/** A chat that has greeted. */
async function greeted(agent = 'chatter'): Promise<string> {
  const run = await harness.run('chat', agent)
  await harness.eventually(async () => (await harness.timeline(run)).includes('agent: Hello Ada.'))
  return run
}

describe('a chat in which nobody says anything', () => {
  it('a chat without messages ends after the silence limit of its agent', async () => {
    await harness.publish('patient', planOf(CHATTER, { settings: PATIENT }))
    harness.worker()
    const run = await greeted('patient')
    harness.time.advance(50_000)
    await harness.answer(run, 'Hello?')
    const answeredAt = harness.time.now()
    // The silence after an answer counts from when the chat listens again, which nobody sees.
    const over = await harness.eventually(async () => {
      const row = await harness.read(run)
      if (row.ended_at === null) harness.time.advance(500)
      return row.ended_at !== null && row
    })
    expect(harness.time.now() - answeredAt).toBeGreaterThanOrEqual(60_000)
    expect(over).toMatchObject({
      state: 'completed',
      outcome: { kind: 'silence', ended_by: 'system' },
      disposition: 'silence',
    })
    expect(await harness.permits()).toEqual(NOBODY)
  })

  it('a message whose notification was lost still breaks the silence of a chat', async () => {
    await harness.publish('patient', planOf(CHATTER, { settings: PATIENT }))
    harness.worker()
    const run = await greeted('patient')
    const message = await harness.post(run, 'Is anybody there?')
    harness.time.advance(60_000)
    // More time passes where the chat did not listen yet.
    expect((await harness.passing(harness.settled(message))).answer?.utterances).toHaveLength(2)
    expect((await harness.read(run)).state).toBe('running')
  })

  it('the agent opens a chat when the user who should begin stays silent', async () => {
    const flow = { start_speaker: 'user', begin_after_user_silence_ms: 3000 } as const
    await harness.publish('shy', planOf(CHATTER, { flow }))
    harness.worker()
    const startedAt = harness.time.now()
    const run = await harness.run('chat', 'shy')
    await harness.eventually(async () => (await harness.timeline(run)).includes('node talk'))
    expect(await harness.timeline(run)).not.toContain('agent: Hello Ada.')
    await harness.passing(harness.eventually(async () => (await harness.timeline(run)).includes('agent: Hello Ada.')))
    expect(harness.time.now() - startedAt).toBeGreaterThanOrEqual(3000)
  })
})

describe('a run that takes too long', () => {
  it('a text run ends at its maximum duration', async () => {
    const settings = { maxCallDurationMs: 1_800_000, endCallAfterSilenceMs: 3_600_000 }
    await harness.publish('talkative', planOf(CHATTER, { settings }))
    harness.worker()
    const run = await greeted('talkative')
    harness.time.advance(1_800_000)
    expect(await harness.ended(run)).toMatchObject({
      state: 'completed',
      outcome: { kind: 'max_duration', ended_by: 'system' },
    })
    expect(await harness.permits()).toEqual(NOBODY)
  })
})

describe('a run that is cancelled', () => {
  const CANCELLED = {
    state: 'cancelled',
    outcome: { kind: 'cancelled', detail: null, ended_by: 'operator' },
    disposition: 'cancelled',
  }

  it('a cancelled chat aborts its turn and answers with the partial reply', async () => {
    harness.worker()
    const run = await greeted()
    harness.model.thinks('stalls')
    const message = await harness.say(run, 'Tell me everything.')
    await harness.eventually(() => harness.model.requests.length === 1)
    await harness.cancel(run)
    expect(await harness.ended(run)).toMatchObject(CANCELLED)
    expect(harness.model.givenUp).toBe(1)
    expect((await harness.settled(message)).answer).toMatchObject({
      state: 'ending',
      utterances: [{ role: 'user', text: 'Tell me everything.' }],
    })
    expect(await harness.transcript(run)).toMatchObject({ state: 'complete', utterances: { length: 2 } })
    expect((await harness.timeline(run)).slice(-2)).toEqual(['state ending', 'state cancelled'])
    expect(await harness.announced(run)).toEqual(['run.started', 'run.ended'])
    expect(await harness.permits()).toEqual(NOBODY)
    await expect(harness.say(run, 'Hello?')).rejects.toThrow('run_ended')
  })

  it('a cancelled run ends while its agent is still being prepared', async () => {
    let isAsked = false
    harness.agent = () => {
      isAsked = true
      return new Promise(() => {})
    }
    harness.worker()
    const run = await harness.run('task', 'writer')
    await harness.eventually(() => isAsked)
    await harness.cancel(run)
    expect(await harness.ended(run)).toMatchObject(CANCELLED)
    expect(await harness.permits()).toEqual(NOBODY)
  })
})

describe('a run whose model cannot be had', () => {
  const FAILED = {
    state: 'failed',
    outcome: { kind: 'error', detail: 'provider_failed', ended_by: 'system' },
    disposition: 'error',
  }

  it('a run fails at the start when its model is unavailable, with the error in its timeline', async () => {
    harness.agent = () => Promise.reject(new JobsError('model_not_ready', 'the model needs OPENAI_API_KEY'))
    harness.worker()
    const run = await harness.run('task', 'writer')
    expect(await harness.ended(run)).toMatchObject(FAILED)
    expect(await harness.timeline(run)).toEqual([
      'state admitted',
      'state running',
      'error model_not_ready',
      'state failed',
    ])
    expect(await harness.permits()).toEqual(NOBODY)
    expect(harness.problems).toEqual([])
  })

  it('a run fails when its model does not become ready in time', async () => {
    let isAsked = false
    harness.agent = () => {
      isAsked = true
      return new Promise(() => {})
    }
    harness.worker()
    const run = await harness.run('task', 'writer')
    await harness.eventually(() => isAsked)
    harness.time.advance(30_000)
    expect(await harness.ended(run)).toMatchObject(FAILED)
    expect(await harness.timeline(run)).toContain('error agent_not_ready')
  })

  it('a task fails at once when its model fails', async () => {
    harness.worker()
    harness.model.thinks('fails')
    const run = await harness.run('task', 'writer')
    expect(await harness.ended(run)).toMatchObject(FAILED)
    expect(await harness.permits()).toEqual(NOBODY)
  })

  it('a chat apologises when its model fails, and fails when the model fails the third time', async () => {
    harness.worker()
    const run = await greeted()
    harness.model.thinks('fails', 'fails', 'fails')
    const first = await harness.answer(run, 'One')
    expect(first.answer).toMatchObject({
      state: 'running',
      utterances: [
        { role: 'user' },
        { role: 'agent', text: "I'm sorry, I have a technical problem. Could you say that once more?" },
      ],
    })
    await harness.answer(run, 'Two')
    expect((await harness.answer(run, 'Three')).answer?.state).toBe('ending')
    expect(await harness.ended(run)).toMatchObject(FAILED)
  })

  it('a programming error ends a run as internal, and its details appear in the log only', async () => {
    harness.agent = () => Promise.reject(new TypeError('secret details'))
    harness.worker()
    const run = await harness.run('task', 'writer')
    expect(await harness.ended(run)).toMatchObject({ state: 'failed', outcome: { detail: 'internal' } })
    expect(await harness.timeline(run)).toContain('error internal')
    expect(harness.problems).toEqual([expect.stringContaining('secret details')])
    expect(await harness.permits()).toEqual(NOBODY)
  })
})

describe('a run that somebody else took over', () => {
  it('a run taken over by another process is released in mid-turn without a write or an answer', async () => {
    const { runs, leases } = harness.worker()
    const run = await greeted()
    harness.model.thinks('stalls')
    const message = await harness.say(run, 'Tell me everything.')
    const before = await harness.eventually(async () => {
      const timeline = await harness.timeline(run)
      return timeline.includes('user: Tell me everything.') ? timeline : null
    })
    await harness.takeOver(run)
    await harness.eventually(() => runs.count('chat') === 0)
    expect(harness.model.givenUp).toBe(1)
    expect(leases.size).toBe(0)
    expect(await harness.timeline(run)).toEqual(before)
    expect((await harness.read(run)).state).toBe('running')
    expect(await harness.transcript(run)).toMatchObject({ state: 'partial' })
    expect(await harness.message(message)).toMatchObject({ state: 'taken', answer: null })
    expect(await harness.announced(run)).toEqual(['run.started'])
    expect(await harness.permits()).toEqual({ live: 1, permits: 1 })
  })
})

describe('a database that is away', () => {
  it('a message gets one turn when the answer to its commit was lost', async () => {
    harness.worker()
    const run = await greeted()
    for (const [turn, text] of ['One', 'Two', 'Three'].entries()) {
      harness.cutCommits = 1 + turn
      const message = await harness.say(run, text)
      const settled = harness.passing(harness.settled(message))
      expect((await settled).answer).toMatchObject({ state: 'running', utterances: [{ text }, { text: 'Yes.' }] })
    }
    expect(harness.model.requests).toHaveLength(3)
    expect((await harness.read(run)).state).toBe('running')
  })

  it('a database outage delays the answer and the end of a chat and loses neither', async () => {
    harness.worker()
    const run = await greeted()
    harness.model.thinks({ take: 'the user says goodbye' })
    harness.isAway = true
    const message = await harness.say(run, 'Bye')
    await harness.eventually(() => harness.refusals > 0)
    expect((await harness.message(message))?.state).toBe('waiting')
    harness.isAway = false
    harness.time.advance(250)
    expect((await harness.settled(message)).answer).toMatchObject({ state: 'ending' })
    expect((await harness.ended(run)).state).toBe('completed')
    expect(await harness.permits()).toEqual(NOBODY)
  })
})
