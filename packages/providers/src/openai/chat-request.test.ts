import { describe, expect, it } from 'vitest'
import { chatRequest } from './chat-request.ts'

const options = { model: 'm', cap: 'max_tokens', takesStrictTools: false } as const

describe('the request body for the OpenAI chat API', () => {
  it('the request body for the OpenAI chat API contains the conversation with tool calls and their results', () => {
    const body = chatRequest(
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Weather?' },
          {
            role: 'assistant',
            content: '',
            toolCalls: [{ id: 'a', name: 'weather', argumentsText: '{"city":"Oslo"}' }],
          },
          { role: 'tool', toolCallId: 'a', content: 'sunny' },
          { role: 'assistant', content: 'Sunny.', toolCalls: [{ id: 'b', name: 'weather', argumentsText: '{"ci' }] },
        ],
        temperature: 0,
        maxOutputTokens: 50,
      },
      options,
    )
    expect(body).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'sunny' },
        {
          role: 'assistant',
          content: 'Sunny.',
          tool_calls: [{ id: 'b', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
      ],
      temperature: 0,
      max_tokens: 50,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it('strict tools have schemas that OpenAI guarantees, where the schema allows it', () => {
    const day = { type: 'object', properties: { day: { type: 'string' } } }
    const tools = [
      { name: 'book', description: '', parameters: day },
      { name: 'note', description: '', parameters: { type: 'object' } },
    ]
    const request = { messages: [], tools, strictTools: true }
    const closed = { ...day, properties: { day: { type: ['string', 'null'] } }, required: ['day'] }
    expect(chatRequest(request, { ...options, takesStrictTools: true }).tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'book',
          description: '',
          parameters: { ...closed, additionalProperties: false },
          strict: true,
        },
      },
      { type: 'function', function: { name: 'note', description: '', parameters: { type: 'object' } } },
    ])
    expect(JSON.stringify(chatRequest(request, options))).not.toContain('strict')
  })

  it('the request body for the OpenAI chat API declares the tools and the tool choice', () => {
    const tools = [{ name: 'weather', description: 'The weather', parameters: { type: 'object' } }]
    const messages = [{ role: 'user', content: 'Hi' }] as const
    expect(chatRequest({ messages, tools, toolChoice: { name: 'weather' } }, options)).toMatchObject({
      tools: [{ type: 'function', function: tools[0] }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
    })
    expect(chatRequest({ messages, tools }, options)).toMatchObject({ tool_choice: 'auto' })
    expect(chatRequest({ messages, tools: [], toolChoice: 'required' }, options)).not.toHaveProperty('tool_choice')
  })

  it('the request body for the OpenAI chat API omits the brief, which only Parley models read', () => {
    const brief = { purpose: 'decide', language: 'en', transitions: [] } as const
    expect(JSON.stringify(chatRequest({ messages: [], brief }, options))).not.toContain('decide')
  })
})
