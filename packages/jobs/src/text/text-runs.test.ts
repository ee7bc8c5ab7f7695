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

describe('a chat', () => {
  it('a chat is stored without the names and addresses that its agent redacts, also in variables of the run', async () => {
    const redaction = { kinds: ['names' as const, 'emails' as const] }
    await harness.publish('discreet', planOf(CHATTER, { settings: { redaction } }))
    harness.worker()
    harness.model.thinks({ take: 'the user says goodbye' })
    const run = await harness.run('chat', 'discreet')
    await harness.reaches(run, row => row.state === 'running')
    await harness.answer(run, 'My name is Grace Hopper, grace@example.com. Bye.')
    await harness.ended(run)
    const lines = await harness.timeline(run)
    expect(lines.filter(line => /^(agent|user):/.test(line))).toEqual([
      'agent: Hello [name].',
      'user: My name is [name], [e-mail]. Bye.',
    ])
  })

  it('a chat greets at its start, answers each message with a turn, and ends where its flow ends', async () => {
    harness.worker()
    harness.model.thinks({ say: 'Fine.' }, { say: 'Rainy.' }, { take: 'the user says goodbye' })
    const run = await harness.run('chat', 'chatter')
    await harness.reaches(run, row => row.state === 'running')

    const first = await harness.answer(run, 'How are you?')
    expect(first.state).toBe('answered')
    expect(first.answer?.state).toBe('running')
    expect(first.answer?.utterances).toMatchObject([
      { index: 1, role: 'user', text: 'How are you?', node_id: 'talk' },
      { index: 2, role: 'agent', text: 'Fine.' },
    ])
    expect((await harness.answer(run, 'And the weather?')).answer?.utterances).toMatchObject([
      { index: 3, role: 'user' },
      { index: 4, role: 'agent', text: 'Rainy.' },
    ])
    const last = await harness.answer(run, 'Bye')
    expect(last.answer).toMatchObject({ state: 'ending', utterances: [{ index: 5, role: 'user', text: 'Bye' }] })

    expect(await harness.ended(run)).toMatchObject({
      state: 'completed',
      phone_state: null,
      outcome: { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' },
      disposition: 'completed',
      contact: 'not_applicable',
      connected_ms: null,
    })
    expect(await harness.timeline(run)).toEqual([
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
    expect(await harness.transcript(run)).toMatchObject({ state: 'complete', utterances: { length: 6 } })
    expect(await harness.announced(run)).toEqual(['run.started', 'run.ended'])
    expect(await harness.permits()).toEqual(NOBODY)
    expect(harness.problems).toEqual([])
  })

  it('the transcript and the timeline have a turn before its message is answered', async () => {
    harness.worker()
    harness.model.thinks(...Array.from({ length: 8 }, (_, turn) => ({ say: `Answer ${turn}.` })))
    const run = await harness.run('chat', 'chatter')
    await harness.reaches(run, row => row.state === 'running')
    for (let turn = 0; turn < 8; turn++) {
      await harness.answer(run, `Question ${turn}`)
      expect(await harness.transcript(run)).toMatchObject({ utterances: { length: 3 + 2 * turn } })
      expect((await harness.timeline(run)).at(-1)).toBe(`agent: Answer ${turn}.`)
    }
  })

  it('a chat answers a message that was sent before it started', async () => {
    const run = await harness.admit('chat', 'chatter')
    const message = await harness.say(run, 'Is anybody there?')
    harness.worker()
    expect((await harness.settled(message)).answer).toMatchObject({ utterances: [{ index: 1 }, { text: 'Yes.' }] })
  })
})

describe('a task', () => {
  it('a task writes one reply and ends', async () => {
    harness.worker()
    harness.model.thinks({ say: 'All is well.' })
    const run = await harness.run('task', 'writer')
    expect(await harness.ended(run)).toMatchObject({
      state: 'completed',
      outcome: { kind: 'completed', ended_by: 'agent' },
    })
    expect(await harness.transcript(run)).toMatchObject({ utterances: [{ role: 'agent', text: 'All is well.' }] })
    expect(await harness.effects(run)).toMatchObject([{ effect_kind: 'gateway_inference', state: 'succeeded' }])
    expect(await harness.used(run)).toEqual({ llm_input_tokens: 7, llm_output_tokens: 3 })
    expect(await harness.permits()).toEqual(NOBODY)
  })
})
