import type { Assertion } from '@parley/contract'
import type { LanguageModel } from '@parley/providers'
import type { AssertionResult } from './assertions.ts'
import type { TrialRecord } from './trial-record.ts'

type Criterion = Extract<Assertion, { readonly type: 'judge' }>

const TOOL = 'verdict'
const INSTRUCTION =
  'You judge the transcript of a phone conversation by one criterion, and only by what the transcript says. First give the reason, then whether the criterion is met. If the transcript cannot answer it, say so with answerable false.'

/** Asks a model whether the conversation meets the criterion; the model's reason is the message. Rejects as the model does. */
export async function judgeByModel(
  { id, type, criterion }: Criterion,
  { speech }: TrialRecord,
  model: LanguageModel | null,
  signal: AbortSignal,
): Promise<AssertionResult> {
  const unjudged = (message: string): AssertionResult => ({ id, type, passed: null, message })
  if (model === null)
    return unjudged(
      'the built-in model rules-1 cannot judge: give the agent a language model, or leave the assertion out',
    )
  const transcript = speech.map(({ role, text }) => `${role === 'agent' ? 'Agent' : 'Caller'}: ${text}`).join('\n')
  const request = {
    messages: [
      { role: 'system', content: INSTRUCTION },
      { role: 'user', content: `Criterion: ${criterion}\n\nTranscript:\n${transcript}` },
    ],
    tools: [
      {
        name: TOOL,
        description: 'Your judgement.',
        parameters: {
          type: 'object',
          properties: { reason: { type: 'string' }, answerable: { type: 'boolean' }, met: { type: 'boolean' } },
          required: ['reason', 'answerable', 'met'],
        },
      },
    ],
    toolChoice: { name: TOOL },
    temperature: 0,
  } as const
  for await (const event of model.generate(request, signal)) {
    if (event.type !== 'tool-call' || event.call.name !== TOOL || event.arguments === null) continue
    const { reason, answerable, met } = event.arguments
    if (typeof met !== 'boolean') break
    const message = typeof reason === 'string' ? reason.slice(0, 4000) : ''
    return answerable === false
      ? unjudged(`the transcript cannot answer the criterion: ${message}`)
      : { id, type, passed: met, message }
  }
  return unjudged('the model did not judge')
}
