import { describe, expect, it, onTestFinished } from 'vitest'
import type { ChatMessage, GenerationEvent, GenerationRequest, LanguageModel } from '../language-model.ts'

/** The steps with which the service behind a model answers its next request. Fakes of services have further steps. */
export type ServiceStep =
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'begin-tool'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly do: 'tool-arguments'; readonly index: number; readonly text: string }
  | { readonly do: 'report-usage'; readonly input: number; readonly output: number }
  | { readonly do: 'finish'; readonly reason: 'stop' | 'tool-calls' | 'length' }
  /** Sends nothing more until the client abandons the request. */
  | { readonly do: 'stall' }
  /** Too many requests (429). */
  | { readonly do: 'turn-away' }
  /** The key is not valid (401). */
  | { readonly do: 'refuse' }
  /** The connection breaks. */
  | { readonly do: 'break-off' }

export interface ModelUnderTest {
  readonly model: LanguageModel
  /** The service sends the arguments of a tool call parsed, and fails when the model wrote no JSON. Default false. */
  readonly sendsParsedArguments?: boolean
  /** For the next request only. */
  script(steps: readonly ServiceStep[]): void
  /** Requests that the client abandoned before their answers were complete, as counted by the service. */
  abandoned(): number
  /** Ends the service; the model is closed by the suite. */
  close(): Promise<void>
}

const REQUEST: GenerationRequest = {
  messages: [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'What is the weather in Oslo and in Lima?' },
  ],
  tools: [
    {
      name: 'weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
}

const ASKS = { role: 'user', content: 'What is the weather in Oslo and in Lima?' } as const
const CALLS = {
  role: 'assistant',
  content: '',
  toolCalls: [
    { id: 'call:0', name: 'weather', argumentsText: '{"city":"Oslo"}' },
    { id: 'call:1', name: 'weather', argumentsText: '{"city":' },
  ],
} as const
const RESULTS = [
  { role: 'tool', toolCallId: 'call:0', content: '{"outlook":"sunny"}' },
  { role: 'tool', toolCallId: 'call:1', content: '' },
] as const

/** Conversations of calls, without the system prompt. */
const CONVERSATIONS: Readonly<Record<string, readonly ChatMessage[]>> = {
  'that has not begun': [],
  'that the model began': [{ role: 'assistant', content: 'Hello.' }, ASKS],
  'in which the model spoke last': [ASKS, { role: 'assistant', content: 'Sunny. ' }],
  'in which the caller speaks twice and sends a blank message between': [ASKS, { role: 'user', content: ' ' }, ASKS],
  'with results of tools': [ASKS, CALLS, ...RESULTS],
  'with the same ids in two answers': [
    ASKS,
    CALLS,
    ...RESULTS,
    { role: 'assistant', content: 'So.' },
    CALLS,
    ...RESULTS,
  ],
  'in which the caller spoke before the results came': [ASKS, CALLS, ASKS, ...RESULTS],
  'that lost a result': [ASKS, CALLS, RESULTS[0], { role: 'assistant', content: 'Sunny.' }, ASKS],
  'that lost a call': [RESULTS[0], ASKS],
}

/** What every implementation of `LanguageModel` must do. `make` returns a fresh model with a fresh service. */
export function languageModelConformance(name: string, make: () => ModelUnderTest): void {
  describe(`the model ${name}`, () => {
    answers(make)
    acceptsRequests(make)
    callsTools(make)
    stops(make)
    fails(make)
  })
}

async function generate(make: () => ModelUnderTest, steps: readonly ServiceStep[], request = REQUEST) {
  const { model, script } = open(make)
  script(steps)
  return collect(model.generate(request, new AbortController().signal))
}

function open(make: () => ModelUnderTest): ModelUnderTest {
  const tested = make()
  onTestFinished(async () => {
    await tested.model.close()
    await tested.close()
  })
  return {
    ...tested,
    model: tested.model,
    script: steps => tested.script(steps),
    abandoned: () => tested.abandoned(),
    close: () => tested.close(),
  }
}

async function collect(answer: AsyncIterable<GenerationEvent>): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const event of answer) events.push(event)
  return events
}

function textOf(events: readonly GenerationEvent[]): string {
  return events.map(event => (event.type === 'text' ? event.delta : '')).join('')
}

function answers(make: () => ModelUnderTest): void {
  it('streams the text, then the usage, then the end', async () => {
    const events = await generate(make, [
      { do: 'say', text: 'It is ' },
      { do: 'say', text: 'sunny: 20 °C, señor 🌞.' },
      { do: 'finish', reason: 'stop' },
      { do: 'report-usage', input: 31, output: 12 },
    ])
    expect(textOf(events)).toBe('It is sunny: 20 °C, señor 🌞.')
    expect(events.filter(event => event.type === 'text' && event.delta === '')).toEqual([])
    expect(events).toContainEqual({ type: 'usage', inputTokens: 31, outputTokens: 12, cachedInputTokens: 0 })
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'stop' })
    expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1)
  })

  it('reports an answer that was cut off at its length limit', async () => {
    const events = await generate(make, [
      { do: 'say', text: 'It is' },
      { do: 'finish', reason: 'length' },
    ])
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'length' })
  })

  it('concurrent answers do not mix', async () => {
    const { model, script } = open(make)
    const answers = ['one', 'two', 'three'].map(text => {
      script([
        { do: 'say', text },
        { do: 'finish', reason: 'stop' },
      ])
      return collect(model.generate(REQUEST, new AbortController().signal)).then(textOf)
    })
    expect((await Promise.all(answers)).sort()).toEqual(['one', 'three', 'two'])
  })
}

function acceptsRequests(make: () => ModelUnderTest): void {
  const SAYS = [
    { do: 'say', text: 'Well.' },
    { do: 'finish', reason: 'stop' },
  ] as const

  it.each(Object.entries(CONVERSATIONS))('accepts a conversation %s', async (_name, conversation) => {
    const messages = [...REQUEST.messages.slice(0, 1), ...conversation]
    expect(textOf(await generate(make, SAYS, { ...REQUEST, messages }))).toBe('Well.')
    expect(textOf(await generate(make, SAYS, { messages }))).toBe('Well.')
  })

  it.each<[string, Partial<GenerationRequest>]>([
    ['the tool choice "none"', { toolChoice: 'none' }],
    ['the tool choice "required"', { toolChoice: 'required' }],
    ['a named tool choice', { toolChoice: { name: 'weather' } }],
    ['a temperature', { temperature: 1.5 }],
    ['a limit on output tokens', { maxOutputTokens: 5 }],
  ])('accepts a request with %s', async (_name, wish) => {
    expect(textOf(await generate(make, SAYS, { ...REQUEST, ...wish }))).toBe('Well.')
  })
}

function callsTools(make: () => ModelUnderTest): void {
  it('joins tool arguments whose fragments alternate between calls', async () => {
    const events = await generate(make, [
      { do: 'say', text: 'One moment.' },
      { do: 'begin-tool', index: 0, id: 'call_a', name: 'weather' },
      { do: 'tool-arguments', index: 0, text: '{"ci' },
      { do: 'begin-tool', index: 1, id: 'call_b', name: 'weather' },
      { do: 'tool-arguments', index: 1, text: '{"city":"Li' },
      { do: 'tool-arguments', index: 0, text: 'ty":"Oslo"}' },
      { do: 'tool-arguments', index: 1, text: 'ma"}' },
      { do: 'finish', reason: 'tool-calls' },
    ])
    const complete = events.flatMap(event => (event.type === 'tool-call' ? [event] : []))
    expect(complete.map(({ call, arguments: parsed }) => [call.id, call.name, parsed])).toEqual([
      ['call_a', 'weather', { city: 'Oslo' }],
      ['call_b', 'weather', { city: 'Lima' }],
    ])
    for (const { call } of complete) {
      const fragments = events.map(event =>
        event.type === 'tool-call-arguments' && event.id === call.id ? event.delta : '',
      )
      expect(fragments.join('')).toBe(call.argumentsText)
    }
    expect(textOf(events)).toBe('One moment.')
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'tool-calls' })
  })

  it.each([
    ['nothing', '', {}],
    ['a list', '["Oslo"]', null],
  ])('parses the arguments of a tool call when the model wrote %s', async (_name, text, parsed) => {
    const events = await generate(make, [
      { do: 'begin-tool', index: 0, id: 'call_a', name: 'weather' },
      { do: 'tool-arguments', index: 0, text },
      { do: 'finish', reason: 'tool-calls' },
    ])
    const call = { id: 'call_a', name: 'weather', argumentsText: text }
    expect(events).toContainEqual({ type: 'tool-call', call, arguments: parsed })
  })

  it('reports half an object in the arguments of a tool call', async () => {
    const { model, script, sendsParsedArguments = false } = open(make)
    script([
      { do: 'begin-tool', index: 0, id: 'call_a', name: 'weather' },
      { do: 'tool-arguments', index: 0, text: '{"city":' },
      { do: 'finish', reason: 'tool-calls' },
    ])
    const events = collect(model.generate(REQUEST, new AbortController().signal))
    if (sendsParsedArguments) return expect(events).rejects.toMatchObject({ code: 'model_failed', retryable: true })
    const call = { id: 'call_a', name: 'weather', argumentsText: '{"city":' }
    expect(await events).toContainEqual({ type: 'tool-call', call, arguments: null })
  })

  it('completes no tool call of an answer that was cut off', async () => {
    const events = await generate(make, [
      { do: 'begin-tool', index: 0, id: 'call_a', name: 'weather' },
      { do: 'tool-arguments', index: 0, text: '{"city":"Os' },
      { do: 'finish', reason: 'length' },
    ])
    expect(events.filter(({ type }) => type === 'tool-call')).toEqual([])
  })
}

function stops(make: () => ModelUnderTest): void {
  it('a stopped answer ends at once without an error and closes the request', async () => {
    const { model, script, abandoned } = open(make)
    script([{ do: 'say', text: 'Once upon a time' }, { do: 'stall' }])
    const controller = new AbortController()
    const answer = model.generate(REQUEST, controller.signal)[Symbol.asyncIterator]()
    expect(await answer.next()).toEqual({ done: false, value: { type: 'text', delta: 'Once upon a time' } })
    const next = answer.next()
    controller.abort()
    const last = await next
    if (!last.done) expect(last.value.type).toBe('usage')
    expect((await answer.next()).done).toBe(true)
    await expect.poll(abandoned).toBe(1)
  })

  it('reports the token usage once, however the answer ends', async () => {
    const { model, script } = open(make)
    const steps: readonly ServiceStep[] = [
      { do: 'say', text: 'Once' },
      { do: 'finish', reason: 'stop' },
      { do: 'report-usage', input: 31, output: 12 },
    ]
    script(steps)
    const all = await collect(model.generate(REQUEST, new AbortController().signal))
    for (let events = 1; events <= all.length; events++) {
      script(steps)
      const controller = new AbortController()
      const seen: GenerationEvent[] = []
      for await (const event of model.generate(REQUEST, controller.signal)) {
        seen.push(event)
        if (seen.length === events) controller.abort()
      }
      expect(seen.filter(({ type }) => type === 'usage').length).toBeLessThanOrEqual(1)
    }
  })

  it('a request that was stopped before it began yields nothing', async () => {
    const { model } = open(make)
    expect(await collect(model.generate(REQUEST, AbortSignal.abort()))).toEqual([])
  })

  it('closes the request when the consumer stops reading', async () => {
    const { model, script, abandoned } = open(make)
    script([{ do: 'say', text: 'Once upon a time' }, { do: 'stall' }])
    for await (const _event of model.generate(REQUEST, new AbortController().signal)) break
    await expect.poll(abandoned).toBe(1)
  })
}

function fails(make: () => ModelUnderTest): void {
  it.each<[string, readonly ServiceStep[], string, boolean]>([
    ['there are too many requests', [{ do: 'turn-away' }], 'model_busy', true],
    ['the key is refused', [{ do: 'refuse' }], 'model_refused', false],
    ['the connection breaks', [{ do: 'say', text: 'It' }, { do: 'break-off' }], 'model_unreachable', true],
  ])('marks the error as retryable or not when %s', async (_name, steps, code, retryable) => {
    await expect(generate(make, steps)).rejects.toMatchObject({ name: 'ParleyError', code, retryable })
  })

  it('completes no tool call of an answer whose connection broke', async () => {
    const { model, script } = open(make)
    script([
      { do: 'begin-tool', index: 0, id: 'call_a', name: 'weather' },
      { do: 'tool-arguments', index: 0, text: '{"city":"Oslo"}' },
      { do: 'break-off' },
    ])
    const events: GenerationEvent[] = []
    const answer = model.generate(REQUEST, new AbortController().signal)
    await expect(async () => {
      for await (const event of answer) events.push(event)
    }).rejects.toMatchObject({ code: 'model_unreachable' })
    expect(events.filter(({ type }) => type === 'tool-call')).toEqual([])
  })
}
