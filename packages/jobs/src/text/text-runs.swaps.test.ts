import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DraftNode, END, planOf } from './testing/agents.ts'
import { TextHarness } from './testing/text-harness.ts'

let test: TestDatabase
let harness: TextHarness
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test.close())

const NOBODY = { live: 0, permits: 0 }
const edge = (prompt: string, destination_node_id: string) => ({
  id: prompt.replaceAll(' ', '-'),
  transition_condition: { type: 'prompt' as const, prompt },
  destination_node_id,
})
const swapTo = (agent_id: string, fields: object = {}): DraftNode[] => [
  {
    id: 'swap',
    type: 'agent_swap',
    agent_id,
    instruction: { type: 'static_text', text: 'I pass you on.' },
    speak_during_execution: true,
    edge: edge('Swap failed', 'sorry'),
    ...fields,
  } as DraftNode,
  {
    id: 'sorry',
    type: 'conversation',
    instruction: { type: 'static_text', text: 'I stay with you.' },
    edges: [edge('the user says goodbye', 'end')],
  },
  END,
]
const desk = (agent_id: string): DraftNode[] => [
  {
    id: 'talk',
    type: 'conversation',
    instruction: { type: 'static_text', text: 'Hello {{name}}.' },
    edges: [edge('the user asks for billing', 'swap')],
  },
  ...swapTo(agent_id),
]
const specialist: DraftNode[] = [
  {
    id: 'bills',
    type: 'conversation',
    instruction: { type: 'static_text', text: 'Billing here, {{name}}.' },
    edges: [edge('the user says goodbye', 'end')],
  },
  END,
]

beforeEach(async () => {
  harness = await TextHarness.open(test)
  await harness.publish('billing', planOf(specialist))
  await harness.publish('desk', planOf(desk('billing')))
  await harness.publish('lonely', planOf(desk('gone')))
  await harness.publish('pass', planOf(swapTo('billing')))
  await test.owner.query('update parley.agents set head_version = 1 where tenant_id = $1', [harness.scope.tenant_id])
  await test.owner.query(
    `update parley.publications set plan = plan || '{"notification": {"url": "https://hooks.test/"}}' where tenant_id = $1`,
    [harness.scope.tenant_id],
  )
})
afterEach(() => harness.close())

const successorOf = async (run: string) =>
  ((await harness.ended(run)).outcome as { detail: string }).detail.slice('agent_swap:'.length)

describe('a chat that an agent hands to another one', () => {
  it('the client keeps its chat: the new agent greets in the same answer and goes on, in a run of its own', async () => {
    harness.worker()
    harness.model.thinks(
      { take: 'the user asks for billing' },
      { say: 'Ten euros.' },
      { take: 'the user says goodbye' },
    )
    const run = await harness.run('chat', 'desk')
    await harness.reaches(run, row => row.state === 'running')

    const first = await harness.answer(run, 'Billing, please')
    expect(first.answer?.state).toBe('running')
    expect(first.answer?.utterances).toMatchObject([
      { index: 1, role: 'user', text: 'Billing, please' },
      { index: 2, role: 'agent', text: 'I pass you on.', node_id: 'swap' },
      { index: 3, role: 'agent', text: 'Billing here, Ada.', node_id: 'bills' },
    ])
    expect((await harness.answer(run, 'How much is it?')).answer).toMatchObject({
      state: 'running',
      utterances: [
        { index: 4, role: 'user' },
        { index: 5, text: 'Ten euros.' },
      ],
    })
    expect(JSON.stringify(harness.model.requests[1]?.messages)).toContain('Billing, please')
    expect((await harness.answer(run, 'Bye')).answer).toMatchObject({ state: 'ending', utterances: [{ index: 6 }] })

    const next = await successorOf(run)
    expect(await harness.ended(run)).toMatchObject({
      state: 'completed',
      disposition: 'transferred',
      outcome: { kind: 'transferred', ended_by: 'agent' },
    })
    const effects = await harness.effects(run)
    const admission = effects.find(({ effect_kind }) => effect_kind === 'run_admission')
    expect(admission).toMatchObject({
      state: 'succeeded',
      action: { id: 'agent.swap' },
      receipts: [{ kind: 'transaction', table: 'runs', row_id: next }],
    })
    expect(await harness.ended(next)).toMatchObject({
      agent_id: 'billing',
      channel: 'cloud',
      mode: 'chat',
      state: 'completed',
      trigger: { kind: 'callback', source_run_id: run, effect_id: admission?.effect_id },
      outcome: { kind: 'completed', ended_by: 'agent' },
    })
    expect(await harness.transcript(run)).toMatchObject({ state: 'complete', utterances: { length: 3 } })
    expect(await harness.transcript(next)).toMatchObject({
      state: 'complete',
      utterances: [{ index: 0, text: 'Billing here, Ada.' }, {}, { text: 'Ten euros.' }, { text: 'Bye' }],
    })
    for (const id of [run, next]) expect(await harness.announced(id)).toEqual(['run.started', 'run.ended'])
    expect(await harness.permits()).toEqual(NOBODY)
    expect(harness.problems).toEqual([])
  })

  it('an agent that does not exist takes the failure edge, and the timeline says why', async () => {
    harness.worker()
    harness.model.thinks({ take: 'the user asks for billing' })
    const run = await harness.run('chat', 'lonely')
    await harness.reaches(run, row => row.state === 'running')
    expect((await harness.answer(run, 'Billing, please')).answer).toMatchObject({
      state: 'running',
      utterances: [{ role: 'user' }, { text: 'I pass you on.' }, { text: 'I stay with you.' }],
    })
    expect(await harness.timeline(run)).toContain('error agent_not_found')
  })

  it('a chat that is handed over before its first message is answered by the new agent', async () => {
    const run = await harness.admit('chat', 'pass')
    const message = await harness.say(run, 'Is anybody there?')
    harness.worker()
    expect((await harness.settled(message)).answer).toMatchObject({
      state: 'running',
      utterances: [{ text: 'Is anybody there?' }, { text: 'Yes.' }],
    })
    expect(await harness.transcript(await successorOf(run))).toMatchObject({
      utterances: [{ text: 'Billing here, Ada.' }, { text: 'Is anybody there?' }, { text: 'Yes.' }],
    })
  })

  it('an operator who cancels the chat after the hand-over ends the run that has it', async () => {
    harness.worker()
    harness.model.thinks({ take: 'the user asks for billing' })
    const run = await harness.run('chat', 'desk')
    await harness.reaches(run, row => row.state === 'running')
    await harness.answer(run, 'Billing, please')
    const next = await successorOf(run)
    await harness.cancel(next)
    expect(await harness.ended(next)).toMatchObject({ state: 'cancelled' })
    expect(await harness.permits()).toEqual(NOBODY)
  })

  it('a worker that closes while the other agent gets ready ends the chat and leaves no run behind', async () => {
    const { runs } = harness.worker()
    harness.model.thinks({ take: 'the user asks for billing' })
    const run = await harness.run('chat', 'desk')
    await harness.reaches(run, row => row.state === 'running')
    const ready = harness.agent
    let isAsked = false
    harness.agent = () => {
      isAsked = true
      return new Promise(() => {})
    }
    await harness.say(run, 'Billing, please')
    await harness.eventually(() => isAsked)
    await harness.passing(runs.close(0))
    harness.agent = ready
    expect(await harness.ended(run)).toMatchObject({ state: 'failed', outcome: { detail: 'engine_lost' } })
    expect(await harness.permits()).toEqual(NOBODY)
  })
})

describe('a task that an agent hands to another one', () => {
  it('the other agent completes the task in a run of its own', async () => {
    await harness.publish(
      'writer',
      planOf([{ id: 'w', type: 'conversation', instruction: { type: 'prompt', text: 'Write.' } }]),
    )
    await harness.publish('clerk', planOf(swapTo('writer', { instruction: null, speak_during_execution: false })))
    await test.owner.query('update parley.agents set head_version = 1 where tenant_id = $1', [harness.scope.tenant_id])
    harness.worker()
    const run = await harness.run('task', 'clerk')
    const next = await successorOf(run)
    expect(await harness.ended(next)).toMatchObject({ mode: 'task', state: 'completed', agent_id: 'writer' })
    expect(await harness.transcript(next)).toMatchObject({ utterances: [{ role: 'agent', text: 'Yes.' }] })
    expect(await harness.permits()).toEqual(NOBODY)
  })
})
