import { type FlowInput, FlowInterpreter, type FlowOutput } from '@parley/flow'
import { ProviderError } from '@parley/providers/testing'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { asks, type DraftNode, ends, httpAction, planOf, says, staticText, when } from './testing/plans.ts'
import type { Answer } from './testing/scripted-model.ts'
import { SpokenConversationHarness } from './testing/spoken-conversation-harness.ts'
import { settle } from './testing/text-conversation-harness.ts'

const desk: DraftNode = {
  id: 'desk',
  type: 'subagent',
  instruction: staticText('Hello.'),
  tool_ids: ['book', 'price'],
  edges: [when('to the function', 'work'), when('to the question', 'ask'), when('out', 'end')],
}
const work: DraftNode = {
  id: 'work',
  type: 'function',
  tool_id: 'price',
  speak_during_execution: true,
  instruction: { type: 'prompt', text: 'Ask for patience.' },
  edges: [when('well done', 'aside')],
  else_edge: when('Else', 'desk'),
}
const plan = planOf(
  [
    desk,
    work,
    asks('ask', 'Ask.', { edges: [when('back', 'desk'), when('on', 'aside')], else_edge: when('Else', 'desk') }),
    says('aside', 'By the way.', { skip_response_edge: when('Skip response', 'ask') }),
    { id: 'end', type: 'end', speak_during_execution: true, instruction: staticText('Bye.') },
    {
      ...asks('person', 'Help them.'),
      global_node_setting: { condition: 'a person is wanted', go_back_conditions: [], cool_down: 1 },
    },
    ends('never'),
  ],
  {
    actions: [
      httpAction('book'),
      httpAction('price', { parameters: { type: 'object', properties: { day: { type: 'string' } } } }),
    ],
  },
)

/** Some tool that is offered, by number; what is not offered is as good. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('One. ', 'Two. ', 'Three. ').map(say => ({ say })) },
  { weight: 3, arbitrary: fc.constantFrom('go_1', 'go_2', 'go_3', 'go_4').map(call => ({ call })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('book', 'price', 'use_arguments').map(call => ({ call, args: { day: 'x' } })),
  },
  { weight: 1, arbitrary: fc.constant({ call: 'book', args: '{"day' }) },
  { weight: 3, arbitrary: fc.constantFrom(10, 300, 2000).map(wait => ({ wait })) },
  { weight: 1, arbitrary: fc.constant({ stall: true as const }) },
  {
    weight: 1,
    arbitrary: fc.boolean().map(retryable => ({ fail: new ProviderError('model_busy', 'no', { retryable }) })),
  },
)
const answer: fc.Arbitrary<Answer> = fc.array(step, { maxLength: 5 })

type Move =
  | { readonly do: 'say' | 'cut' | 'hear' | 'digits' | 'resolve' | 'fail' | 'remind' | 'answer late' }
  | { readonly do: 'pass'; readonly ms: number }

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'say' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'hear' as const }) },
  { weight: 4, arbitrary: fc.constantFrom(5, 100, 400, 12_000).map(ms => ({ do: 'pass' as const, ms })) },
  {
    weight: 5,
    arbitrary: fc.constantFrom('cut', 'digits', 'resolve', 'fail', 'remind', 'answer late').map(what => ({
      do: what as 'cut',
    })),
  },
)

async function make(talk: SpokenConversationHarness, move: Move, heard: string[]): Promise<void> {
  const first = talk.speaking[0]?.text ?? ''
  switch (move.do) {
    case 'say':
      return talk.say('Well.')
    case 'hear':
      if (talk.speaking[0]?.isComplete) {
        heard.push(first.trim())
        await talk.hear()
      }
      return
    case 'cut': {
      const part = first.slice(0, 3)
      heard.push(part.trim())
      return talk.cut(part)
    }
    case 'digits':
      talk.conversation.digits('7')
      return settle()
    case 'resolve':
      talk.actions.resolve({ body: { a: 1 } })
      return settle()
    case 'fail':
      talk.actions.resolve({ failed: 'http_500' })
      return settle()
    case 'remind':
      talk.conversation.silence('reminder')
      return settle()
    case 'answer late':
      talk.heardWhenWithdrawn = talk.heardWhenWithdrawn === null ? '' : null
      return
    case 'pass':
      return talk.pass(move.ms)
  }
}

/** Lets everything come to its end. */
async function drain(talk: SpokenConversationHarness, heard: string[]): Promise<void> {
  for (let round = 0; round < 40; round++) {
    await talk.pass(11_000)
    talk.actions.resolve({ body: null })
    while (talk.speaking[0]?.isComplete) {
      heard.push(talk.speaking[0].text.trim())
      await talk.hear()
    }
    if (talk.speaking.length > 0 && talk.events.some(event => event.type === 'speech-withdrawn')) await talk.cut('')
  }
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('any sequence of caller, model, action and timer events', () => {
  it('every flow request is answered once, every action is sent once, and the memory holds exactly what was heard', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { maxLength: 25 }),
        fc.array(move, { maxLength: 40 }),
        async (answers, moves) => {
          vi.restoreAllMocks()
          const handle = vi.spyOn(FlowInterpreter.prototype, 'handle')
          const talk = new SpokenConversationHarness(plan)
          talk.model.answers(...answers)
          const heard: string[] = []
          await talk.start()
          for (const each of moves) await make(talk, each, heard)
          await drain(talk, heard)
          const inputs = handle.mock.calls.map(([, input]) => input)
          const outputs = handle.mock.results.flatMap(({ value }) => value as readonly FlowOutput[])
          expectAnswersOnce(inputs, outputs, talk)
          expectHeardOnly(talk, heard)
          expectOrder(talk)
        },
      ),
      { numRuns: 60 },
    )
  })
})

function expectAnswersOnce(
  inputs: readonly FlowInput[],
  outputs: readonly FlowOutput[],
  talk: SpokenConversationHarness,
): void {
  const hasEnded = talk.count('ended') > 0
  const answered = (type: FlowInput['type'], id: string) =>
    inputs.filter(input => input.type === type && 'request_id' in input && input.request_id === id).length
  for (const output of outputs) {
    if (output.type === 'say' || output.type === 'prompt') {
      const spoken = answered('spoken', output.request_id)
      if (hasEnded) expect(spoken).toBeLessThanOrEqual(1)
      else expect(spoken, `${output.type} ${output.request_id} is spoken once`).toBe(1)
    }
    if (output.type === 'decide') expect(answered('chosen', output.request_id)).toBeLessThanOrEqual(1)
    if (output.type === 'infer' && !hasEnded) expect(answered('inferred', output.request_id)).toBe(1)
    if (output.type === 'run_action') expect(answered('action_result', output.request_id)).toBe(1)
  }
  const wanted = outputs.filter(output => output.type === 'run_action')
  expect(talk.actions.sent).toHaveLength(wanted.length)
  const busy = talk.events.findLast(event => event.type === 'busy')
  expect(busy === undefined || !busy.busy, 'nothing is waited for in the end').toBe(true)
}

function expectHeardOnly(talk: SpokenConversationHarness, heard: readonly string[]): void {
  const said = talk.conversation.memory.flatMap(message =>
    message.role === 'assistant' && message.content !== '' ? [message.content.replace(/ —$/, '')] : [],
  )
  const left = heard.filter(text => text !== '')
  for (const text of said) {
    expect(left, 'only what was heard').toContain(text)
    left.splice(left.indexOf(text), 1)
  }
  expect(left, 'all that was heard').toEqual([])
  const calls = talk.conversation.memory.flatMap(message =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  )
  const results = talk.conversation.memory.filter(message => message.role === 'tool')
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ id }) => id))
}

function expectOrder(talk: SpokenConversationHarness): void {
  const state = new Map<string, 'open' | 'over'>()
  let hasEnded = false
  for (const event of talk.events) {
    if (hasEnded)
      expect(event.type === 'fact' ? event.fact.kind : event.type).toMatch(/^(action|utterance|interruption)$/)
    if (event.type === 'ended') hasEnded = true
    if (event.type === 'ended' && event.ended_by === 'agent') expect(talk.saidAtEnd).toEqual([])
    if (event.type === 'speech') {
      expect(state.has(event.speech_id)).toBe(false)
      state.set(event.speech_id, 'open')
    }
    if (event.type === 'speech-text') expect(state.get(event.speech_id)).toBe('open')
    if (event.type === 'speech-end') {
      expect(state.get(event.speech_id)).toBe('open')
      state.set(event.speech_id, 'over')
    }
    if (event.type === 'speech-withdrawn') state.set(event.speech_id, 'over')
  }
  const indexes = talk.conversation.utterances.map(({ index }) => index)
  expect(indexes).toEqual(indexes.map((_, index) => index))
}
