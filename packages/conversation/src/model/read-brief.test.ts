import type { GenerationRequest } from '@parley/providers'
import { describe, expect, it } from 'vitest'
import { asks, planOf, says, when } from '../testing/plans.ts'
import { TextConversationHarness } from '../testing/text-conversation-harness.ts'
import { type PromptContext, REASONS } from './instructions.ts'
import { choiceRequest } from './model-questions.ts'
import { readBrief } from './read-brief.ts'
import { type Prompt, replyRequest } from './reply.ts'

const SETTING: PromptContext = {
  channel: 'phone',
  language: 'es',
  hasChangedLanguage: false,
  globalPrompt: 'You sell pizza.\n\nYour present step:\nis not this one.',
  currentTime: 'Monday, 9:00',
}
const CHOICES = [
  { choice_id: 'a', kind: 'edge' as const, condition: 'The caller agrees' },
  { choice_id: 'b', kind: 'edge' as const, condition: 'The caller "objects"\n\nor hangs up' },
]
const MESSAGES = [{ role: 'user', content: 'Hello.' } as const]

function withoutBrief({ brief: _, ...request }: GenerationRequest): GenerationRequest {
  return request
}

describe('a model request without a brief', () => {
  const reasons = Object.keys(REASONS) as (keyof typeof REASONS)[]
  it.each(reasons.flatMap(reason => [[reason, 'prompt'] as const, [reason, 'static_text'] as const]))(
    'the brief of a reply (reason %s, instruction %s) can be read from the prompt',
    (reason, type) => {
      const instruction = { type, text: 'Say "Which size?"\n\nThen wait.' }
      const tools = [{ action_id: 'x', name: 'go_shopping', description: 'Shops.', parameters: { type: 'object' } }]
      const prompt = { instruction, reason, choices: CHOICES, tools } as unknown as Prompt
      const request = replyRequest({ passages: [], prompt, promptContext: SETTING, messages: MESSAGES, temperature: 1 })
      expect(readBrief(withoutBrief(request))).toEqual(request.brief)
      const nothing = { ...prompt, instruction: { type, text: '' }, choices: [], tools: [] } as unknown as Prompt
      const plain = { ...SETTING, globalPrompt: '' }
      const bare = replyRequest({
        passages: [],
        prompt: nothing,
        promptContext: plain,
        messages: MESSAGES,
        temperature: 1,
      })
      expect(readBrief(withoutBrief(bare))).toEqual(bare.brief)
    },
  )

  it('the brief of an edge choice can be read from the prompt, except for the language', () => {
    const request = choiceRequest({ promptContext: SETTING, messages: MESSAGES }, { choices: CHOICES })
    expect(readBrief(withoutBrief(request))).toEqual({ ...request.brief, language: 'multi' })
  })

  it('the brief of an extraction can be read from the prompt, except for the language', async () => {
    const variables = [{ type: 'string' as const, name: 'size', description: 'The size', required: true }]
    const plan = planOf([
      says('hello', 'Hello.', { edges: [when('they order', 'read')] }),
      { id: 'read', type: 'extract_dynamic_variables', variables },
      asks('end', 'Say goodbye.'),
    ])
    const talk = new TextConversationHarness(plan)
    await talk.start()
    talk.model.answers([{ take: 'they order' }])
    await talk.say('A big one.')
    const reading = talk.model.requests.find(({ brief }) => brief?.purpose === 'variables')!
    expect(readBrief(withoutBrief(reading))).toEqual({ ...reading.brief, language: 'multi' })
  })
})
