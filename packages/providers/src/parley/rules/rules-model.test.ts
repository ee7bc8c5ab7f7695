import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type {
  ChatMessage,
  GenerationBrief,
  GenerationEvent,
  GenerationRequest,
  ToolDeclaration,
} from '../../language-model/language-model.ts'
import { RulesModel } from './rules-model.ts'

const never = new AbortController().signal

async function collect(
  request: GenerationRequest,
  model = new RulesModel(),
  signal = never,
): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const event of model.generate(request, signal)) events.push(event)
  return events
}

/** What the model says, or the tool it calls with its arguments. */
async function answerTo(request: GenerationRequest): Promise<unknown> {
  const events = await collect(request)
  expect(events.at(-1)?.type).toBe('finished')
  const call = events.find(event => event.type === 'tool-call')
  if (call !== undefined) return [call.call.name, call.arguments]
  return events.map(event => (event.type === 'text' ? event.delta : '')).join('')
}

const agent = (content: string): ChatMessage => ({ role: 'assistant', content })
const caller = (content: string): ChatMessage => ({ role: 'user', content })

function reply(
  reason: string,
  instruction: string,
  messages: readonly ChatMessage[],
  more: { conditions?: readonly string[]; tools?: readonly ToolDeclaration[]; language?: string } = {},
): GenerationRequest {
  const transitions = (more.conditions ?? []).map((condition, i) => ({ tool: `go_${i + 1}`, condition }))
  const ways = transitions.map(({ tool, condition }) => ({
    name: tool,
    description: condition,
    parameters: { type: 'object', properties: {} },
  }))
  return {
    messages: [{ role: 'system', content: 'You are an agent.' }, ...messages],
    tools: [...(more.tools ?? []), ...ways],
    brief: { purpose: 'reply', language: more.language ?? 'en', instruction, reason, transitions },
  }
}

describe('the speech of rules-1', () => {
  const ask = 'Ask which room they want.'
  const question = 'Which room do you want?'

  it('rules-1 speaks the instruction when the step begins', async () => {
    expect(await answerTo(reply('enter', ask, []))).toBe(question)
    expect(await answerTo(reply('enter', '', []))).toBe('How can I help you?')
    expect(await answerTo(reply('during_execution', '', []))).toBe('One moment, please.')
    expect(await answerTo(reply('enter', 'Pregunta qué habitación quiere.', [], { language: 'es-MX' }))).toBe(
      '¿Qué habitación quiere?',
    )
  })

  it('rules-1 repeats the question when the answer was not understood', async () => {
    const messages = [agent(question), caller('purple elephants')]
    expect(await answerTo(reply('user_turn', ask, messages))).toBe(`I am sorry, I did not get that. ${question}`)
    expect(await answerTo(reply('user_turn', ask, [agent(question), caller('[unintelligible]')]))).toBe(
      `I am sorry, I did not get that. ${question}`,
    )
    expect(await answerTo(reply('stuck', '', messages))).toBe(`I am sorry, I did not get that. ${question}`)
    expect(await answerTo(reply('stuck', '', []))).toBe('I am sorry, I did not get that. Could you say it again?')
  })

  it('rules-1 speaks the instruction first when the agent has not spoken it yet', async () => {
    expect(await answerTo(reply('user_turn', ask, [caller('hello?')]))).toBe(question)
  })

  it('rules-1 repeats the question on request and after a thank-you', async () => {
    const after = (said: string) => answerTo(reply('user_turn', ask, [agent(question), caller(said)]))
    expect(await after('Sorry, could you repeat that?')).toBe(question)
    expect(await after('Thank you!')).toBe(`You are welcome. ${question}`)
  })

  it('rules-1 asks a silent caller whether they are still there', async () => {
    expect(await answerTo(reply('reminder', ask, [agent(question)]))).toBe(`Are you still there? ${question}`)
    expect(await answerTo(reply('reminder', 'Pregunta el nombre.', [], { language: 'es' }))).toBe(
      '¿Sigue ahí? ¿Me puede decir el nombre?',
    )
  })

  it.each([
    ['{"message":"Room 12 is free."}', 'Room 12 is free. Which room do you want?'],
    ['{"data":{"room_number":12,"isFree":true}}', 'Room number is 12. Is free is true. Which room do you want?'],
    ['{"outcome":"failed","error":"timeout"}', 'I am sorry, that did not work. Which room do you want?'],
    [
      '{"outcome":"failed","error":"http_409","answer":{"message":"It is taken"}}',
      'It is taken. Which room do you want?',
    ],
    ['Room 12', 'Room 12. Which room do you want?'],
    [`{"message":"Cut here","rooms":["${'a'.repeat(50_000)}`, 'Cut here. Which room do you want?'],
    ['[]', 'That is done. Which room do you want?'],
  ])('rules-1 speaks the result of a tool: %.60s', async (content, speech) => {
    const calls = [{ id: 'c', name: 'rooms', argumentsText: '{}' }]
    const messages: ChatMessage[] = [
      caller('any rooms?'),
      { role: 'assistant', content: '', toolCalls: calls },
      { role: 'tool', toolCallId: 'c', content },
    ]
    expect(await answerTo(reply('tool_result', ask, messages))).toBe(speech)
  })
})

describe('the transitions that rules-1 takes', () => {
  const conditions = ['The caller agrees', 'The caller declines']

  it('rules-1 calls the transition whose condition holds, without text', async () => {
    const messages = [agent('Shall I?'), caller('No, thanks')]
    expect(await answerTo(reply('user_turn', 'Ask.', messages, { conditions }))).toEqual(['go_2', {}])
    const events = await collect(reply('user_turn', 'Ask.', messages, { conditions }))
    expect(events.map(({ type }) => type)).toEqual([
      'tool-call-started',
      'tool-call-arguments',
      'tool-call',
      'usage',
      'finished',
    ])
    expect(events.at(-1)).toEqual({ type: 'finished', reason: 'tool-calls' })
  })

  it('rules-1 takes no transition for a turn without words, nor for a turn that was already answered', async () => {
    const blank = reply('user_turn', 'Ask.', [caller('yes'), agent('Could you tell me?'), caller('[unintelligible]')], {
      conditions,
    })
    expect(await answerTo(blank)).toMatch(/did not get/)
    const old = reply('user_turn', 'Ask.', [caller('yes'), agent('Shall I?')], { conditions })
    expect(await answerTo(old)).toEqual(expect.any(String))
  })

  const decide = (messages: readonly ChatMessage[], ...ways: readonly string[]) =>
    answerTo({
      ...reply('', '', messages, { conditions: ways }),
      brief: {
        purpose: 'decide',
        language: 'en',
        transitions: ways.map((condition, i) => ({ tool: `go_${i + 1}`, condition })),
      },
    })

  it('rules-1 decides without text, and yields no transition when no condition holds', async () => {
    expect(await decide([caller('[pressed 2#]')], 'The caller presses 1', 'The caller presses 2')).toEqual(['go_2', {}])
    expect(await decide([caller('whatever')], ...conditions)).toBe('')
    expect(await decide([], ...conditions)).toBe('')
  })

  it('rules-1 judges a tool result by conditions about the tool, not by conditions about the caller', async () => {
    const after = (content: string): ChatMessage[] => [
      caller('book it'),
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'book', argumentsText: '{}' }] },
      { role: 'tool', toolCallId: 'c', content },
    ]
    const ways = ['The caller cancels', 'The booking failed', 'The booking was successful']
    expect(await decide(after('{"outcome":"failed"}'), ...ways)).toEqual(['go_2', {}])
    expect(await decide(after('{"message":"Booked. You may cancel until noon."}'), ...ways)).toEqual(['go_3', {}])
    expect(await decide(after('{"status":"in progress"}'), ...ways)).toBe('')
  })
})

describe('the tools that rules-1 calls', () => {
  const status: ToolDeclaration = {
    name: 'order_status',
    description: 'Looks up the status of an order',
    parameters: {
      type: 'object',
      properties: { order_number: { type: 'string', description: 'The order number' } },
      required: ['order_number'],
    },
  }
  const hangUp: ToolDeclaration = {
    name: 'end_call',
    description: 'Ends the call when the caller says goodbye',
    parameters: { type: 'object', properties: {} },
  }
  const tools = [status, hangUp]
  const instruction = 'Help with orders. Ask what they need.'
  const question = 'Could you tell me the order number?'

  it('rules-1 calls the tool that the caller asks for, with its arguments', async () => {
    const messages = [agent('What do you need?'), caller('What is the status of my order? The number is 1042.')]
    expect(await answerTo(reply('user_turn', instruction, messages, { tools }))).toEqual([
      'order_status',
      { order_number: '1042' },
    ])
  })

  it('rules-1 asks for a missing argument, and calls the tool when the caller gives it', async () => {
    const first = [agent('What do you need?'), caller('What is the status of my order?')]
    expect(await answerTo(reply('user_turn', instruction, first, { tools }))).toBe(question)
    const then = [...first, agent(question), caller('1042')]
    expect(await answerTo(reply('user_turn', instruction, then, { tools }))).toEqual([
      'order_status',
      { order_number: '1042' },
    ])
  })

  it('rules-1 does not call a tool twice for one turn', async () => {
    const made = { id: 'c', name: 'order_status', argumentsText: '{"order_number":"1042"}' }
    const messages: ChatMessage[] = [
      caller('What is the status of order number 1042?'),
      { role: 'assistant', content: '', toolCalls: [made] },
      { role: 'tool', toolCallId: 'c', content: '{"message":"On its way."}' },
    ]
    expect(await answerTo(reply('user_turn', instruction, messages, { tools }))).toEqual(expect.any(String))
    const again = [...messages, agent('On its way.'), caller('What is the status of order number 1042 now?')]
    expect(await answerTo(reply('user_turn', instruction, again, { tools }))).toEqual(
      expect.arrayContaining(['order_status']),
    )
  })

  it('rules-1 ends the call when the caller says goodbye, and calls no tool for unrelated words', async () => {
    const after = (said: string) => answerTo(reply('user_turn', instruction, [agent('Yes?'), caller(said)], { tools }))
    expect(await after('Goodbye!')).toEqual(['end_call', {}])
    expect(await after('purple elephants')).toEqual(expect.any(String))
    expect(await after('I do not want to know the status of an order')).toEqual(expect.any(String))
  })

  it('rules-1 obeys the tool choice of the request', async () => {
    const request = reply('user_turn', instruction, [caller('Goodbye!')], { tools })
    expect(await answerTo({ ...request, toolChoice: 'none' })).toEqual(expect.any(String))
    const { brief: _none, ...bare } = request
    expect(await answerTo({ ...bare, toolChoice: { name: 'order_status' } })).toEqual(['order_status', {}])
  })
})

describe('the digits and transfer destinations of rules-1', () => {
  const filling = (purpose: 'digits' | 'transfer_destination', prompt: string, messages: readonly ChatMessage[]) => {
    const name = purpose === 'digits' ? 'digits' : 'destination'
    const properties = { [name]: { type: 'string' } }
    const brief: GenerationBrief = { purpose, language: 'en', prompt, tool: 'fill' }
    const tools = [{ name: 'fill', description: '', parameters: { type: 'object', properties, required: [name] } }]
    return answerTo({ messages: [...messages], tools, toolChoice: { name: 'fill' }, brief })
  }

  it.each([
    ['Reach the billing department', 'For sales, press 1. For billing, press 2.', '2'],
    ['Get to support', 'Press 1 for sales, 2 for support, or 3 for anything else.', '2'],
    ['Enter 4711#', 'Please enter your code.', '4711#'],
  ])('rules-1 presses the key of a phone menu that reaches the goal: %s', async (prompt, menu, digits) => {
    expect(await filling('digits', prompt, [caller(menu)])).toEqual(['fill', { digits }])
  })

  it.each([
    ['Transfer to +1 202 555 0100.', 'anything', '+12025550100'],
    ['Sales: +12025550101. Support: +12025550102', 'I need support', '+12025550102'],
    ['Sales is sip:sales@example.com, repairs is sip:fix@example.com.', 'a repair please', 'sip:fix@example.com'],
  ])('rules-1 transfers to the destination that fits the caller: %s', async (prompt, said, destination) => {
    expect(await filling('transfer_destination', prompt, [caller(said)])).toEqual(['fill', { destination }])
  })

  it('rules-1 calls no tool that the request does not offer', async () => {
    const brief: GenerationBrief = { purpose: 'variables', language: 'en', prompt: '', tool: 'keep' }
    expect(await answerTo({ messages: [caller('hello')], brief })).toBe('')
  })
})

describe('an answer of rules-1', () => {
  const request = reply('enter', 'Say "One two three."', [])

  it('streams word by word and reports its token usage', async () => {
    const events = await collect(request)
    expect(events).toEqual([
      { type: 'text', delta: 'One' },
      { type: 'text', delta: ' two' },
      { type: 'text', delta: ' three.' },
      { type: 'usage', inputTokens: 5, outputTokens: 4, cachedInputTokens: 0 },
      { type: 'finished', reason: 'stop' },
    ])
    expect(await collect(request)).toEqual(events)
  })

  it('an answer of rules-1 takes the configured time to the first token and between tokens', async () => {
    const time = new VirtualTime()
    const model = new RulesModel({ time, firstTokenMs: 300, tokenMs: 50 })
    const came: number[] = []
    const done = (async () => {
      for await (const event of model.generate(request, never)) if (event.type === 'text') came.push(time.now())
    })()
    for (let step = 0; step < 20; step++) {
      await new Promise(setImmediate)
      const next = time.nextDeadline()
      if (next !== undefined) time.advanceTo(next)
    }
    await done
    expect(came).toEqual([300, 350, 400])
  })

  it('an answer of rules-1 stops at once when it is aborted, without an error or a timer', async () => {
    const time = new VirtualTime()
    const model = new RulesModel({ time, firstTokenMs: 1000 })
    const controller = new AbortController()
    const events = collect(request, model, controller.signal)
    await expect.poll(() => time.nextDeadline()).toBe(1000)
    controller.abort()
    expect(await events).toEqual([expect.objectContaining({ type: 'usage', outputTokens: 0 })])
    expect(time.nextDeadline()).toBeUndefined()

    const between = new AbortController()
    const answer = new RulesModel().generate(request, between.signal)
    const first = await answer.next()
    between.abort()
    const written = first.value?.type === 'text' ? first.value.delta.length : 0
    expect((await answer.next()).value).toMatchObject({ type: 'usage', outputTokens: Math.ceil(written / 4) })
    expect(await answer.next()).toEqual({ done: true, value: undefined })
    expect(await collect(request, new RulesModel(), AbortSignal.abort())).toEqual([])
  })

  it('an answer of rules-1 fails after the model is closed', async () => {
    const model = new RulesModel()
    expect(model.identity).toEqual({ provider: 'parley', model: 'rules-1' })
    expect(await model.readiness()).toBeNull()
    await model.close()
    await expect(collect(request, model)).rejects.toMatchObject({ code: 'model_failed' })
  })
})
