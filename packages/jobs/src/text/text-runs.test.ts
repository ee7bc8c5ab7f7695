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

describe('a chat', () => {
  it('a chat greets at its start, answers each message with a turn, and ends where its flow ends', async () => {
    stage.worker()
    stage.mind.thinks({ say: 'Fine.' }, { say: 'Rainy.' }, { take: 'the user says goodbye' })
    const run = await stage.run('chat', 'chatter')
    await stage.reaches(run, row => row.state === 'running')

    const first = await stage.answer(run, 'How are you?')
    expect(first.state).toBe('answered')
    expect(first.answer?.state).toBe('running')
    expect(first.answer?.utterances).toMatchObject([
      { index: 1, role: 'user', text: 'How are you?', node_id: 'talk' },
      { index: 2, role: 'agent', text: 'Fine.' },
    ])
    expect((await stage.answer(run, 'And the weather?')).answer?.utterances).toMatchObject([
      { index: 3, role: 'user' },
      { index: 4, role: 'agent', text: 'Rainy.' },
    ])
    const last = await stage.answer(run, 'Bye')
    expect(last.answer).toMatchObject({ state: 'ending', utterances: [{ index: 5, role: 'user', text: 'Bye' }] })

    expect(await stage.ended(run)).toMatchObject({
      state: 'completed',
      phone_state: null,
      outcome: { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' },
      disposition: 'completed',
      contact: 'not_applicable',
      connected_ms: null,
    })
    expect(await stage.timeline(run)).toEqual([
      'state admitted',
      'state running',
      'node talk',
      'agent: Hello Ada.',
      'user: How are you?',
      'agent: Fine.',
      'user: And the weather?',
      'agent: Rainy.',
      'user: Bye',
      'node end',
      'state ending',
      'state completed',
    ])
    expect(await stage.transcript(run)).toMatchObject({ state: 'complete', utterances: { length: 6 } })
    expect(await stage.announced(run)).toEqual(['run.started', 'run.ended'])
    expect(await stage.permits()).toEqual(NOBODY)
    expect(stage.troubles).toEqual([])
  })

  it('a chat answers a message that was sent before it started', async () => {
    const run = await stage.admit('chat', 'chatter')
    const message = await stage.say(run, 'Is anybody there?')
    stage.worker()
    expect((await stage.settled(run, message)).answer).toMatchObject({ utterances: [{ index: 1 }, { text: 'Yes.' }] })
  })
})

describe('a task', () => {
  it('a task writes one reply and ends', async () => {
    stage.worker()
    stage.mind.thinks({ say: 'All is well.' })
    const run = await stage.run('task', 'writer')
    expect(await stage.ended(run)).toMatchObject({
      state: 'completed',
      outcome: { kind: 'completed', ended_by: 'agent' },
    })
    expect(await stage.transcript(run)).toMatchObject({ utterances: [{ role: 'agent', text: 'All is well.' }] })
    expect(await stage.effects(run)).toMatchObject([{ effect_kind: 'gateway_inference', state: 'succeeded' }])
    expect(await stage.used(run)).toEqual({ llm_input_tokens: 7, llm_output_tokens: 3 })
    expect(await stage.permits()).toEqual(NOBODY)
  })
})
