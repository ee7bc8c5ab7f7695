import { type TestCase, testCase } from '@parley/contract'
import { if_, planOf, ScriptedModel, says, when } from '@parley/conversation/testing'
import type { Plan } from '@parley/flow'
import { SeededRandom, systemTime, VirtualTime } from '@parley/kernel'
import { type LanguageModel, RulesModel } from '@parley/providers'
import { describe, expect, it } from 'vitest'
import { caseFault } from './case-validity.ts'
import { runTrial } from './run-trial.ts'

const PLAN: Plan = planOf(
  [
    says('welcome', 'Hello. How can I help you?', {
      edges: [
        when('The caller wants to book a room', 'name'),
        when('The caller wants to speak to a person', 'person'),
        if_('current_digits exists', 'keys'),
        when('The caller says goodbye', 'end'),
      ],
    }),
    says('name', 'What is your name?', { edges: [when('The caller gives their name', 'book')] }),
    {
      id: 'book',
      type: 'function',
      tool_id: 'book',
      edges: [if_('current_action_outcome == succeeded', 'booked')],
      else_edge: when('Else', 'trouble'),
    },
    says('booked', 'Room {{room}} is booked. Anything else?', {
      edges: [when('The caller does not need anything else', 'end')],
    }),
    says('trouble', 'That did not work.', { edges: [when('The caller says goodbye', 'end')] }),
    says('keys', 'You pressed keys.', { edges: [when('The caller says goodbye', 'end')] }),
    {
      id: 'person',
      type: 'transfer_call',
      transfer_destination: { type: 'predefined', number: '+12025550100' },
      transfer_option: { type: 'cold_transfer' },
      edge: when('Failed', 'trouble'),
    },
    { id: 'end', type: 'end' },
  ],
  {
    actions: [
      {
        action_id: 'book',
        kind: 'http',
        name: 'book',
        method: 'POST',
        url: 'https://hotel.example.com/book',
        timeout_ms: 5000,
        response_variables: { room: '$.room' },
      },
    ],
    settings: {
      channels: ['phone', 'cloud'],
      reminderTriggerMs: 8000,
      reminderMaxCount: 2,
      endCallAfterSilenceMs: 60_000,
    },
  },
)
const BOOK = { says: 'I want to book a room.' }
const NAME = { says: 'My name is Ada.' }
const answers = (body: unknown, over: object = {}) => ({
  action_id: 'book',
  respond: { kind: 'response', body },
  ...over,
})

const caseOf = (over: object): TestCase =>
  testCase.parse({
    case_id: 'a',
    name: 'A',
    language: 'en',
    caller: { kind: 'script', steps: [BOOK, NAME] },
    mocks: [answers({ room: 12 })],
    assertions: [{ type: 'outcome', id: 'ends', kinds: ['completed', 'caller_hung_up', 'silence', 'transferred'] }],
    ...over,
  })

function run(
  over: object,
  models: () => LanguageModel = () => new RulesModel({ time: systemTime }),
  signal = new AbortController().signal,
) {
  return runTrial({
    plan: PLAN,
    agentId: 'hotel',
    agentVersion: 1,
    runId: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
    testCase: caseOf(over),
    models,
    time: systemTime,
    wallClock: Date.now,
    random: new SeededRandom(1),
    signal,
  })
}
const script = (...steps: object[]) => ({ caller: { kind: 'script', steps } })
const visited = async (over: object) => (await run(over)).record!.nodes.map(({ node_id }) => node_id)
const reasons = async (over: object) =>
  (await run(over)).assertions.filter(({ passed }) => passed !== true).map(({ id, message }) => `${id}: ${message}`)

describe('the mocks of a trial', () => {
  it('the first mock that matches and has uses left answers', async () => {
    const mocks = [
      answers({ room: 1 }, { when: [{ path: 'x', op: 'exists' }] }),
      answers({ room: 2 }, { times: 1 }),
      answers({ room: 3 }),
    ]
    const trial = await run({ mocks })
    expect(trial.record!.variable('room')).toBe('2')
    expect(trial.record!.guardEvents).toEqual([])
  })

  it.each([
    ['a status that is no success', { kind: 'response', status: 500 }, 'http_500'],
    ['a network error', { kind: 'error', error: 'network' }, 'not_connected'],
    ['a timeout', { kind: 'error', error: 'timeout' }, 'timeout'],
    ['an answer after the timeout of the action', { kind: 'response', delay_ms: 5001 }, 'timeout'],
  ])('%s fails the action', async (_what, respond, code) => {
    const { record } = await run({ mocks: [{ action_id: 'book', respond }] })
    expect(record!.nodes.at(-1)?.node_id).toBe('trouble')
    expect(record!.effects.map(({ error_code }) => error_code)).toContain(code)
  })

  it('the delay of a mock counts as waited and is not waited for', async () => {
    const begun = performance.now()
    const { record } = await run({ mocks: [{ action_id: 'book', respond: { kind: 'response', delay_ms: 4000 } }] })
    expect(Math.max(...record!.latenciesMs)).toBeGreaterThanOrEqual(4000)
    expect(performance.now() - begun).toBeLessThan(4000)
  })

  it('a transfer is answered by a mock, and without one fails with a guard event', async () => {
    const caller = script({ says: 'I want to speak to a person.' })
    const mock = { action_id: 'call.transfer', respond: { kind: 'transfer', outcome: 'answered' } }
    expect((await run({ ...caller, mocks: [mock] })).record!.outcome.kind).toBe('transferred')
    const busy = { action_id: 'call.transfer', respond: { kind: 'transfer', outcome: 'busy' } }
    expect(await visited({ ...caller, mocks: [busy] })).toContain('trouble')
    const { record } = await run({ ...caller, mocks: [] })
    expect(record!.guardEvents).toMatchObject([{ kind: 'unmocked_transfer', action_id: 'call.transfer' }])
    expect(record!.nodes.at(-1)?.node_id).toBe('trouble')
  })
})

describe('a scripted caller in text', () => {
  it('a caller hangs up after its last step', async () => {
    const { record } = await run(script(BOOK))
    expect(record!.outcome).toMatchObject({ kind: 'caller_hung_up', ended_by: 'caller' })
  })

  it('a step may press keys, and a step may hang up', async () => {
    expect(await visited(script({ presses: '1' }))).toEqual(['welcome', 'keys'])
    expect(await visited(script({ says: 'Hello?', hangs_up: true }))).toEqual(['welcome'])
  })

  it('words after a short silence belong to the turn before', async () => {
    const { record } = await run(script({ says: 'I want' }, { says: 'to book a room.', silence_ms: 900 }, NAME))
    expect(record!.speech.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
      'I want to book a room.',
      'My name is Ada.',
    ])
    expect(record!.landings.get(2)).toBe('name')
  })

  it('a long silence is reminded of, and ends the conversation', async () => {
    const reminded = await run(script({ says: 'Hm.' }, { silence_ms: 20_000, ...BOOK }))
    expect(reminded.record!.speech.filter(({ role }) => role === 'agent').length).toBeGreaterThan(3)
    expect((await run(script({ says: 'Hm.' }, { silence_ms: 60_000 }))).record!.outcome.kind).toBe('silence')
  })

  it('a played message is heard by the agent as words', async () => {
    const { record } = await run(script({ plays: { kind: 'voicemail_greeting', text: 'Leave a message.' } }))
    expect(record!.speech).toContainEqual({ role: 'user', text: 'Leave a message.', turn: 1 })
  })

  it('a caller hangs up after its last turn', async () => {
    const { record } = await run({ ...script(...Array(5).fill({ says: 'Hm.' })), max_turns: 2 })
    expect(record!.speech.filter(({ role }) => role === 'user')).toHaveLength(2)
  })

  it('expectations of steps that do not come true fail the trial', async () => {
    const steps = [
      { ...BOOK, expect: { lands: ['name'], hears: ['your NAME'] } },
      { ...NAME, expect: { lands: ['name'], hears: ['room 13'], hung_up: true } },
    ]
    const trial = await run(script(...steps))
    expect(trial.verdict).toBe('failed')
    expect(trial.assertions.filter(({ type }) => type === 'expect')).toEqual([
      { id: 'step-1', type: 'expect', passed: true, message: null },
      {
        id: 'step-2',
        type: 'expect',
        passed: false,
        message: 'the agent did not say "room 13"; the turn ended at booked, not at name; the agent did not hang up',
      },
    ])
  })
})

describe('a persona', () => {
  const persona = (over: object = {}) => ({
    caller: {
      kind: 'persona',
      goal: 'I want to book a room.',
      brief: 'Busy.',
      facts: { name: 'My name is Ada.' },
      ...over,
    },
  })

  it('the built-in rules say the goal, tell facts when asked, and end', async () => {
    const { record, verdict } = await run(persona())
    expect(verdict).toBe('passed')
    expect(record!.speech.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
      'I want to book a room.',
      'My name is Ada.',
      'No, that is all, thank you.',
    ])
  })

  it('the rules give up when their patience is over', async () => {
    const goal = { goal: 'Purple elephants.', facts: {}, behavior: { patience: 2 } }
    const { record } = await run(persona(goal))
    expect(record!.outcome.kind).toBe('caller_hung_up')
    expect(record!.speech.filter(({ role }) => role === 'user').length).toBeLessThanOrEqual(4)
  })

  it('verbosity and pauses change what the rules say', async () => {
    const { record } = await run(persona({ behavior: { verbosity: 'rambling', pauses: 'often' } }))
    const said = record!.speech.filter(({ role }) => role === 'user').map(({ text }) => text)
    expect(said[0]).toMatch(/^Well, .*I want to book a room\.$/)
    expect(said.join(' ')).toContain('Um,')
  })

  it('a model plays the persona by its goal, brief, facts and behaviour, and its tokens are measured', async () => {
    const model = new ScriptedModel(systemTime)
    model.answers([{ say: 'Goodbye. [hang up]' }, { tokens: [50, 5] }], [{ take: 'The caller says goodbye' }])
    const { record } = await run(persona({ brief: 'Short of time.', behavior: { patience: 4 } }), () => model)
    const [asked] = model.requests
    const instructions = asked!.messages[0]!.content
    for (const part of ['I want to book a room.', 'Short of time.', 'name is My name is Ada.', 'After 4 answers'])
      expect(instructions).toContain(part)
    expect(record!.speech[1]).toMatchObject({ role: 'user', text: 'Goodbye.' })
    expect(record!.usage).toContainEqual(expect.objectContaining({ meter: 'llm_input_tokens', quantity: 50 }))
  })
})

describe('the judge', () => {
  const judge = {
    ...script({ says: 'Goodbye.' }),
    assertions: [{ type: 'judge', id: 'polite', criterion: 'Was it polite?' }],
  }
  const judged = (args: object) => {
    const model = new ScriptedModel(systemTime)
    model.answers([{ take: 'The caller says goodbye' }], [{ call: 'verdict', args: { ...args } }])
    return run(judge, () => model)
  }

  it('a model judges the transcript by the criterion and its reason is kept', async () => {
    expect((await judged({ reason: 'It greeted.', answerable: true, met: true })).assertions).toEqual([
      { id: 'polite', type: 'judge', passed: true, message: 'It greeted.' },
    ])
    expect((await judged({ reason: 'It swore.', answerable: true, met: false })).verdict).toBe('failed')
  })

  it('a criterion that the transcript cannot answer leaves the trial without a verdict', async () => {
    expect(await judged({ reason: 'No price.', answerable: false, met: false })).toMatchObject({
      verdict: 'errored',
      assertions: [{ passed: null, message: 'the transcript cannot answer the criterion: No price.' }],
    })
  })

  it('the built-in model does not judge, and says so', async () => {
    const trial = await run(judge)
    expect(trial.verdict).toBe('errored')
    expect(trial.assertions[0]!.message).toContain('rules-1 cannot judge')
  })
})

describe('a trial', () => {
  it('a trial that does not end within timeout_ms is errored', async () => {
    const time = new VirtualTime()
    const model = new ScriptedModel(time)
    model.answers([{ stall: true }])
    const begun = runTrial({
      plan: PLAN,
      agentId: 'hotel',
      agentVersion: 1,
      runId: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
      testCase: caseOf({ ...script({ says: 'Hello?' }), timeout_ms: 30_000 }),
      models: () => model,
      time,
      wallClock: Date.now,
      random: new SeededRandom(1),
      signal: new AbortController().signal,
    })
    time.advance(30_000)
    expect(await begun).toMatchObject({ verdict: 'errored', error: expect.stringContaining('trial_timeout') })
  })

  it('dynamic_variables of the case are variables of the conversation', async () => {
    const { record } = await run({ dynamic_variables: { city: 'Berlin' } })
    expect(record!.variable('city')).toBe('Berlin')
  })

  it('a cancelled trial rejects with the reason', async () => {
    const cancelled = new AbortController()
    const model = new ScriptedModel(systemTime)
    model.answers([{ stall: true }])
    const trial = run(script({ says: 'Hello?' }), () => model, cancelled.signal)
    cancelled.abort(new Error('cancelled'))
    await expect(trial).rejects.toThrow('cancelled')
  })

  it('failed assertions are told by their ids', async () => {
    expect(await reasons({ assertions: [{ type: 'final_node', id: 'last', node_ids: ['end'] }] })).toEqual([
      'last: the conversation ended at booked',
    ])
  })
})

describe('a case', () => {
  it.each([
    ['a node of an assertion', { assertions: [{ type: 'final_node', id: 'a', node_ids: ['x'] }] }, 'no node "x"'],
    ['a node of a step', script({ says: 'a', expect: { lands: ['y'] } }), 'no node "y"'],
    ['an action of a mock', { mocks: [{ action_id: 'z', respond: { kind: 'response' } }] }, 'no action "z"'],
    [
      'an action of an assertion',
      { assertions: [{ type: 'tool_not_called', id: 'a', action_id: 'w' }] },
      'no action "w"',
    ],
    ['a pattern', { assertions: [{ type: 'said', id: 'a', role: 'agent', regex: 'a{2000}' }] }, 'cannot be run'],
  ])('%s that the agent cannot serve makes it invalid', (_what, over, fault) => {
    expect(caseFault(caseOf(over), PLAN)).toContain(fault)
    expect(caseFault(caseOf({}), PLAN)).toBeNull()
  })
})
