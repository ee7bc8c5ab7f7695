import { errorsOf } from '@parley/kernel'
import { ProviderError, ServiceRefusal } from '@parley/providers/testing'
import { describe, expect, it } from 'vitest'
import { ConversationError } from './errors.ts'
import { asks, type DraftNode, ends, httpAction, planOf, says, staticText, when } from './testing/plans.ts'
import type { Answer } from './testing/scripted-model.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'

const APOLOGY = "I'm sorry, I have a technical problem. Could you say that once more?"
const SECOND_APOLOGY = 'I am afraid it is still not working. Please try it one last time.'
const CatalogueError = errorsOf({ model_not_ready: { retryable: false, text: 'The model has no key.' } })
const busyService = new ProviderError('model_busy', 'Too many requests.', { retryable: true })
const refused = new ProviderError('model_refused', 'The key is not valid.')

const desk: DraftNode = {
  id: 'desk',
  type: 'subagent',
  instruction: staticText('Hello.'),
  tool_ids: ['book'],
  edges: [when('the caller is done', 'end'), when('the caller is angry', 'calm')],
}
const plan = planOf([desk, asks('calm', 'Calm them.'), ends()], { actions: [httpAction('book')] })

async function atTheDesk(...answers: Answer[]): Promise<SpokenConversationHarness> {
  const talk = new SpokenConversationHarness(plan)
  await talk.start()
  await talk.hear()
  talk.lines()
  talk.model.answers(...answers)
  return talk
}

describe('a model that fails', () => {
  it('a retryable model failure before the first word is retried', async () => {
    const talk = await atTheDesk([{ fail: busyService }], [{ say: 'It is noon.' }])
    await talk.say('Time?')
    await talk.pass(250)
    expect([talk.saying, talk.lines()]).toEqual([['It is noon.'], ['user: Time?']])
  })

  it.each<[string, Answer[], string, number]>([
    ['twice', [[{ fail: busyService }], [{ fail: busyService }]], 'model_busy', 250],
    ['for good', [[{ fail: refused }]], 'model_refused', 0],
    ['by an error of its own', [[{ fail: new Error('key sk-123') }]], 'model_failed', 0],
    ['by saying nothing for ten seconds', [[{ stall: true }]], 'model_timeout', 10_000],
    ['by being cut off before its first word', [[{ finish: 'length' }]], 'model_failed', 0],
    ['by a filter', [[{ finish: 'content-filter' }]], 'model_refused', 0],
  ])('a model that fails %s causes an apology', async (_name, answers, code, after) => {
    const talk = await atTheDesk(...answers)
    await talk.say('Time?')
    if (after > 0) await talk.pass(after - 1)
    if (after > 0) expect(talk.saying.join('')).toBe('')
    if (after > 0) await talk.pass(1)
    expect(talk.saying).toEqual([APOLOGY])
    await talk.hear()
    expect(talk.lines()).toEqual(['user: Time?', `error ${code}`, `agent: ${APOLOGY}`])
    expect(JSON.stringify(talk.events)).not.toContain('sk-123')
  })

  it('a model failure in mid-sentence is not retried, so that nothing is heard twice', async () => {
    const talk = await atTheDesk([{ say: 'It is' }, { fail: busyService }], [{ say: 'It is noon.' }])
    await talk.say('Time?')
    await talk.pass(1000)
    expect(talk.saying).toEqual(['It is', APOLOGY])
    expect(talk.model.requests).toHaveLength(1)
  })

  it('a model that stalls in mid-sentence is aborted after ten seconds', async () => {
    const talk = await atTheDesk([{ say: 'It is' }, { stall: true }])
    await talk.say('Time?')
    await talk.pass(10_000)
    expect([talk.saying, talk.model.givenUp]).toEqual([['It is', APOLOGY], 1])
  })

  it('the apology is in the language of the agent', async () => {
    const talk = new SpokenConversationHarness(planOf([asks('a', 'Pregunta.')], { settings: { language: 'es-MX' } }))
    talk.model.answers([{ fail: refused }])
    await talk.start()
    expect(talk.saying).toEqual(['Lo siento, tengo un problema técnico. ¿Me lo puede repetir?'])
  })

  it.each([
    ['within the retry budget is waited for', 2, ['It is noon.']],
    ['beyond the retry budget causes an apology at once', 60, [APOLOGY]],
  ])('a Retry-After %s', async (_name, seconds, said) => {
    const cause = new ServiceRefusal(429, 'rate_limit_exceeded', seconds * 1000)
    const busy = new ProviderError('model_busy', 'busy', { retryable: true, cause })
    const talk = await atTheDesk([{ fail: busy }], [{ say: 'It is noon.' }])
    await talk.say('Time?')
    if (seconds === 2) await talk.pass(1999)
    expect(talk.model.requests).toHaveLength(1)
    if (seconds === 2) await talk.pass(1)
    expect(talk.saying).toEqual(said)
  })

  it('three model failures in a row end the conversation after two different apologies and a farewell', async () => {
    const talk = await atTheDesk([{ fail: refused }], [{ fail: refused }], [{ fail: refused }])
    await talk.say('Time?')
    await talk.hear()
    await talk.say('Time?')
    expect(talk.saying).toEqual([SECOND_APOLOGY])
    await talk.hear()
    await talk.say('Hello?')
    await talk.hearAll()
    expect(talk.lines()).toEqual([
      'user: Time?',
      'error model_refused',
      `agent: ${APOLOGY}`,
      'user: Time?',
      'error model_refused',
      `agent: ${SECOND_APOLOGY}`,
      'user: Hello?',
      'error model_refused',
      'agent: I am sorry, I cannot go on because of a technical problem. Please call again later. Goodbye.',
      'ended: error by system provider_failed',
    ])
    expect(talk.events.at(-1)).toMatchObject({ type: 'ended', ended_by: 'system' })
    await talk.say('Hello?')
    expect(talk.model.requests).toHaveLength(3)
  })

  it('model failures between successful turns do not end the conversation', async () => {
    const talk = await atTheDesk(
      ...[1, 2, 3].flatMap((): Answer[] => [[{ fail: refused }], [{ fail: refused }], [{ say: 'Noon.' }]]),
    )
    for (let turn = 0; turn < 9; turn++) {
      await talk.say('Time?')
      await talk.hearAll()
    }
    expect(talk.count('ended')).toBe(0)
    expect(talk.lines().filter(line => line.startsWith('agent'))).toEqual(
      [1, 2, 3].flatMap(() => [`agent: ${APOLOGY}`, `agent: ${SECOND_APOLOGY}`, 'agent: Noon.']),
    )
  })

  it('a model that cannot be created causes an apology like any failure', async () => {
    const talk = new SpokenConversationHarness(plan, {
      models: () => {
        throw new CatalogueError('model_not_ready', 'no key')
      },
    })
    await talk.start()
    await talk.hear()
    await talk.say('Time?')
    expect(talk.lines().at(-1)).toBe('error model_not_ready')
    expect(talk.saying).toEqual([APOLOGY])
  })

  it('a failed edge choice takes the else edge without an apology', async () => {
    const node: DraftNode = {
      id: 'pick',
      type: 'conversation',
      instruction: staticText('Yes?'),
      edges: [when('a', 'end')],
      else_edge: when('Else', 'on'),
    }
    const talk = new SpokenConversationHarness(planOf([node, says('on', 'Let us go on.'), ends()]))
    await talk.start()
    await talk.hear()
    talk.model.answers([{ fail: refused }])
    await talk.say('Hm')
    expect(talk.saying).toEqual(['Let us go on.'])
  })
})

describe('model requests in the ledger', () => {
  it('every model request is recorded in the ledger with its outcome', async () => {
    const talk = await atTheDesk(
      [{ fail: busyService }],
      [{ say: 'Noon.' }],
      [{ fail: refused }],
      [{ stall: true }],
      [{ say: 'Yes?' }],
    )
    await talk.say('Time?')
    await talk.pass(250)
    await talk.say('Date?')
    await talk.say('And?')
    await talk.say('Hello?')
    await talk.conversation.settled()
    const rows = talk.fixture.ledger.records.map(row => [
      row.effect_kind,
      row.node_id,
      row.state,
      row.error_code,
      row.send_attempts,
      row.receipts.length,
    ])
    expect(rows).toEqual([
      ['gateway_inference', 'desk', 'succeeded', null, 2, 2],
      ['gateway_inference', 'desk', 'failed', 'model_refused', 1, 1],
      ['gateway_inference', 'desk', 'failed', 'cancelled', 1, 1],
      ['gateway_inference', 'desk', 'succeeded', null, 1, 1],
    ])
  })

  it('a model request is made even when the ledger is unavailable', async () => {
    const down = () => Promise.reject(new ConversationError('ledger_unavailable', 'The database is away.'))
    const talk = new SpokenConversationHarness(plan, {
      ledger: { intend: down, decide: down, sending: down, settle: down },
    })
    await talk.start()
    await talk.hear()
    talk.model.answers([{ say: 'Noon.' }])
    await talk.say('Time?')
    expect(talk.saying).toEqual(['Noon.'])
    await talk.conversation.settled()
    expect(talk.lines().filter(line => line.startsWith('error'))).toEqual([])
  })
})
