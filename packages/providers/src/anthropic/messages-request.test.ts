import { describe, expect, it } from 'vitest'
import { turnsOf } from '../language-model/alternating-turns.ts'
import type { GenerationRequest } from '../language-model/language-model.ts'
import { traitsOf } from './claude-traits.ts'
import { messagesRequest } from './messages-request.ts'

const TOOLS = [
  { name: 'weather', description: 'The weather', parameters: { properties: { city: {} } } },
  { name: 'time', description: '', parameters: { type: 'object' } },
]
const HI = [{ role: 'user', content: 'Hi' }] as const

function body(request: GenerationRequest, model = 'claude-haiku-4-5', thinking: 'least' | 'model' = 'least') {
  return messagesRequest(request, { model, traits: traitsOf(model), maxOutputTokens: 4096, thinking })
}

describe('the request body for the Anthropic Messages API', () => {
  it('the request body for the Anthropic Messages API separates the system prompt, and contains the turns with tool calls and results', () => {
    const request = body({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: 'One moment.',
          toolCalls: [
            { id: 'x', name: 'weather', argumentsText: '{"city":"Oslo"}' },
            { id: 'y', name: 'weather', argumentsText: '{"ci' },
          ],
        },
        { role: 'tool', toolCallId: 'y', content: 'no such city' },
        { role: 'user', content: 'Hello?' },
        { role: 'tool', toolCallId: 'x', content: 'sunny' },
        { role: 'system', content: 'Be kind.' },
      ],
      tools: TOOLS,
      temperature: 1.5,
      maxOutputTokens: 50,
    })
    expect(request).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 50,
      system: 'Be brief.\n\nBe kind.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'One moment.' },
            { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } },
            { type: 'tool_use', id: 'call_2', name: 'weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_2', content: 'no such city' },
            { type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' },
            { type: 'text', text: 'Hello?' },
          ],
        },
      ],
      tools: [
        {
          name: 'weather',
          description: 'The weather',
          input_schema: { type: 'object', properties: { city: {} } },
        },
        { name: 'time', input_schema: { type: 'object' } },
      ],
      tool_choice: { type: 'auto' },
      temperature: 1,
      stream: true,
    })
  })

  it.each([
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [{ name: 'time' }, { type: 'tool', name: 'time' }],
  ] as const)('translates the tool choice %j', (toolChoice, tool_choice) => {
    expect(body({ messages: HI, tools: TOOLS, toolChoice })).toMatchObject({ tool_choice })
  })

  it('the request body for the Anthropic Messages API asks for a tool call in the system prompt when the model cannot be forced to call', () => {
    const named = body({ messages: HI, tools: TOOLS, toolChoice: { name: 'time' } }, 'claude-opus-5-5')
    expect(named).toMatchObject({
      tool_choice: { type: 'auto' },
      tools: [{ name: 'time' }],
      system: expect.stringContaining('calling the tool time'),
    })
    const any = body({ messages: HI, tools: TOOLS, toolChoice: 'required' }, 'claude-opus-5-5')
    expect(any).toMatchObject({ tool_choice: { type: 'auto' }, tools: [{ name: 'weather' }, { name: 'time' }] })
  })

  it('the request body for the Anthropic Messages API declares the tools of earlier calls when the request offers no tools', () => {
    const messages = [
      ...HI,
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'weather', argumentsText: '' }] },
      { role: 'tool', toolCallId: 'a', content: 'sunny' },
    ] as const
    expect(body({ messages })).toMatchObject({ tools: [{ name: 'weather' }], tool_choice: { type: 'none' } })
    expect(body({ messages: HI })).not.toHaveProperty('tool_choice')
  })

  it('the request body for the Anthropic Messages API keeps thinking to the least that the model allows, unless the model may decide', () => {
    const parametersFor = (model: string, thinking?: 'model') => {
      const { thinking: requestedThinking, output_config, max_tokens } = body({ messages: HI }, model, thinking)
      return [requestedThinking, output_config, max_tokens]
    }
    expect(parametersFor('claude-haiku-4-5')).toEqual([undefined, undefined, 4096])
    expect(parametersFor('claude-haiku-5-5')).toEqual([{ type: 'disabled' }, undefined, 4096])
    expect(parametersFor('claude-sonnet-5-5')).toEqual([{ type: 'between_tools' }, undefined, 4096])
    expect(parametersFor('claude-opus-5-5')).toEqual([undefined, { effort: 'low' }, 8192])
    expect(parametersFor('claude-haiku-5-5', 'model')).toEqual([undefined, undefined, 8192])
    expect(body({ messages: HI, temperature: 0 }, 'claude-haiku-5-5')).not.toHaveProperty('temperature')
  })

  it('strict tools are closed objects, for models that guarantee them and schemas that allow it', () => {
    const day = { type: 'object', properties: { day: { type: 'string' } } }
    const request = {
      messages: HI,
      tools: [{ name: 'book', description: '', parameters: day }, ...TOOLS],
      strictTools: true,
    }
    expect(body(request).tools).toEqual([
      { name: 'book', strict: true, input_schema: { ...day, required: [], additionalProperties: false } },
      { name: 'weather', description: 'The weather', input_schema: { type: 'object', properties: { city: {} } } },
      { name: 'time', input_schema: { type: 'object' } },
    ])
    expect(JSON.stringify(body(request, 'claude-3-5-haiku'))).not.toContain('strict')
  })

  it('at most 20 tools with 24 optional properties are strict', () => {
    const tool = (name: string, properties: number) => ({
      name,
      description: '',
      parameters: {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: properties }, (_, at) => [`p${at}`, { type: 'string' }])),
      },
    })
    const strictOf = (tools: ReturnType<typeof tool>[]) =>
      (body({ messages: HI, tools, strictTools: true }).tools as { name: string; strict?: true }[]).flatMap(
        ({ name, strict }) => (strict === true ? [name] : []),
      )
    expect(strictOf([tool('a', 20), tool('b', 5), tool('c', 4)])).toEqual(['a', 'c'])
    expect(strictOf(Array.from({ length: 22 }, (_, at) => tool(`t${at}`, 0)))).toHaveLength(20)
  })

  it('the request body for the Anthropic Messages API omits the brief, which only Parley models read', () => {
    const brief = { purpose: 'decide', language: 'en', transitions: [] } as const
    expect(JSON.stringify(body({ messages: HI, brief }))).not.toContain('decide')
  })
})

describe('the turns of a conversation for the Anthropic Messages API', () => {
  const turnsFor = (messages: Parameters<typeof turnsOf>[0]) =>
    turnsOf(messages).map(({ role, content }) => [role, content.map(({ type, text, content: c }) => text ?? c ?? type)])

  it('the turns of a conversation for the Anthropic Messages API begin and end with a turn of the user', () => {
    expect(turnsFor([])).toEqual([['user', ['[The conversation begins.]']]])
    expect(turnsFor([{ role: 'assistant', content: 'Hello.' }])).toEqual([
      ['user', ['[The conversation begins.]']],
      ['assistant', ['Hello.']],
      ['user', ['[No reply so far.]']],
    ])
  })

  it('the turns of a conversation for the Anthropic Messages API join neighbouring messages of one role and omit blank messages', () => {
    const messages = [
      ...HI,
      { role: 'assistant', content: '' },
      { role: 'user', content: 'there' },
      { role: 'assistant', content: 'Yes?' },
      { role: 'assistant', content: 'Go on.' },
      { role: 'user', content: '\n' },
      { role: 'user', content: 'Well' },
    ] as const
    expect(turnsFor(messages)).toEqual([
      ['user', ['Hi', 'there']],
      ['assistant', ['Yes?', 'Go on.']],
      ['user', ['Well']],
    ])
  })

  it('the turns of a conversation for the Anthropic Messages API contain a result for each tool call, and write results without a call as text', () => {
    const call = { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'x', argumentsText: '{}' }] } as const
    const result = { role: 'tool', toolCallId: 'a', content: 'done' } as const
    expect(turnsFor([...HI, call])).toEqual([
      ['user', ['Hi']],
      ['assistant', ['tool_use']],
      ['user', ['No result.']],
    ])
    expect(turnsFor([...HI, call, call, result, result])).toEqual([
      ['user', ['Hi']],
      ['assistant', ['tool_use']],
      ['user', ['No result.']],
      ['assistant', ['tool_use']],
      ['user', ['done', '[Result of a tool: done]']],
    ])
  })
})
