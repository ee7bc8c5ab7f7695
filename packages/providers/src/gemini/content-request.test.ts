import { describe, expect, it } from 'vitest'
import type { GenerationRequest } from '../language-model/language-model.ts'
import { contentRequest } from './content-request.ts'
import { traitsOf } from './gemini-traits.ts'

const HI = [{ role: 'user', content: 'Hi' }] as const
const WEATHER = {
  name: 'weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const ANY_SHAPE = { name: 'note', description: '', parameters: { type: 'object', properties: { value: {} } } }

const body = (request: GenerationRequest, model = 'gemini-3.8-flash', thinking: 'least' | 'model' = 'least') =>
  contentRequest(request, { traits: traitsOf(model), thinking })

describe('the request body for the Gemini API', () => {
  it('results follow their calls in a content of their own, with id and name, and calls have a signature', () => {
    const { systemInstruction, contents } = body({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: 'One moment.',
          toolCalls: [{ id: 'x', name: 'weather', argumentsText: '{"city":"Oslo"}' }],
        },
        { role: 'user', content: 'Hello?' },
        { role: 'tool', toolCallId: 'x', content: 'sunny' },
      ],
      tools: [WEATHER],
    })
    expect(systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] })
    const call = { id: 'call_1', name: 'weather', args: { city: 'Oslo' } }
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'Weather?' }] },
      {
        role: 'model',
        parts: [{ text: 'One moment.' }, { functionCall: call, thoughtSignature: 'skip_thought_signature_validator' }],
      },
      { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'weather', response: { result: 'sunny' } } }] },
      { role: 'user', parts: [{ text: 'Hello?' }] },
    ])
  })

  it('strict tools are validated if the schemas of all of them allow it', () => {
    const modeOf = (request: Partial<GenerationRequest>) =>
      (body({ messages: HI, ...request }).toolConfig as { functionCallingConfig: object }).functionCallingConfig
    expect(modeOf({ tools: [WEATHER], strictTools: true })).toEqual({ mode: 'VALIDATED' })
    expect(modeOf({ tools: [WEATHER, ANY_SHAPE], strictTools: true })).toEqual({ mode: 'AUTO' })
    expect(modeOf({ tools: [WEATHER], toolChoice: { name: 'weather' }, strictTools: true })).toEqual({
      mode: 'ANY',
      allowedFunctionNames: ['weather'],
    })
    const strict = body({ messages: HI, tools: [WEATHER], strictTools: true }).tools
    expect(strict).toMatchObject([
      { functionDeclarations: [{ parametersJsonSchema: { ...WEATHER.parameters, additionalProperties: false } }] },
    ])
  })

  it.each([
    ['gemini-2.0-flash', undefined, 0.7, 50],
    ['gemini-2.5-flash', { thinkingBudget: 0 }, 0.7, 50],
    ['gemini-2.5-pro', { thinkingBudget: 128 }, 0.7, 50 + 4096],
    ['gemini-3-flash-preview', { thinkingLevel: 'minimal' }, 0.7, 50 + 4096],
    ['gemini-3.6-flash', { thinkingLevel: 'minimal' }, undefined, 50 + 4096],
    ['gemini-3.8-flash', { thinkingLevel: 'low' }, undefined, 50 + 4096],
    ['gemini-flash-latest', { thinkingLevel: 'low' }, undefined, 50 + 4096],
  ])(
    '%s thinks as little as it can and gets only parameters that it accepts',
    (model, thinking, temperature, limit) => {
      const { generationConfig } = body({ messages: HI, temperature: 0.7, maxOutputTokens: 50 }, model)
      expect(generationConfig).toEqual({
        maxOutputTokens: limit,
        ...(thinking !== undefined && { thinkingConfig: thinking }),
        ...(temperature !== undefined && { temperature }),
      })
    },
  )

  it("the model's own thinking and no limits leave the parameters out", () => {
    expect(body({ messages: HI }, 'gemini-3.8-flash', 'model')).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    })
  })
})
