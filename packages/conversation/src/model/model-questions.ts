import type { FlowOutput } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import type { ChatMessage, GenerationRequest, ToolCall } from '@parley/providers'
import { askModel, type Verdict } from './ask-model.ts'
import { variablesSchema, wrapped } from './inference-schema.ts'
import { choiceInstructions, inferenceInstructions, type PromptContext } from './instructions.ts'
import type { ModelRequests } from './model-requests.ts'
import { TransitionTools } from './transition-tools.ts'

/** A request of the flow that the model answers without speaking. */
export type Question = Extract<FlowOutput, { type: 'decide' | 'infer' | 'extract' }>

interface QuestionOptions {
  readonly requests: ModelRequests
  readonly question: Question
  readonly promptContext: PromptContext
  readonly messages: readonly ChatMessage[]
  readonly deadline: Ms
  readonly signal: AbortSignal
}

interface QuestionAnswer {
  /** The id of a choice; arguments or variables as an object; digits or a destination as a string; null: no answer. */
  readonly value: unknown
  readonly failure: { readonly code: string; readonly message: string } | null
  readonly recoveredErrors: readonly { readonly code: string; readonly message: string }[]
}

interface Form {
  readonly request: GenerationRequest
  /** The answer that a tool call gives; undefined: it calls another tool. */
  read(call: ToolCall, args: Readonly<Record<string, unknown>>): unknown
}

const SETTLED: Verdict = { type: 'settled', result: '{"status":"done"}' }

/** Asks the model a question of the flow, which it answers by a tool call. Never rejects. */
export async function askQuestion(options: QuestionOptions): Promise<QuestionAnswer> {
  const { requests, question, deadline, signal } = options
  const form = question.type === 'decide' ? choiceForm(options, question) : inferenceForm(options, question)
  let value: unknown
  const { end, refused } = await askModel({
    requests,
    model: question.model,
    nodeId: question.node_id,
    request: form.request,
    deadline,
    signal,
    onText: () => true,
    onCall: (call, args) => {
      if (args === null && question.type !== 'decide')
        return { type: 'refused', code: 'arguments_invalid', result: '{"error":"The arguments were no JSON object."}' }
      const read = form.read(call, args ?? {})
      if (read === undefined)
        return { type: 'refused', code: 'tool_unknown', result: '{"error":"There is no such tool here."}' }
      value ??= read
      return SETTLED
    },
  })
  const recoveredErrors = refused.map(code => ({
    code,
    message: 'The model called an unknown tool or sent invalid arguments; the call was dropped.',
  }))
  if (value !== undefined) return { value, failure: null, recoveredErrors }
  if (end.type === 'failed') return { value: null, failure: end, recoveredErrors }
  // A model whose every call was refused has failed, like a model that does not answer.
  return { value: null, failure: recoveredErrors.pop() ?? null, recoveredErrors }
}

/** The model request of a choice. Equal choices, contexts and conversations make equal requests. */
export function choiceRequest(
  { promptContext, messages }: Pick<QuestionOptions, 'promptContext' | 'messages'>,
  { choices }: Pick<Extract<Question, { type: 'decide' }>, 'choices'>,
  tools = new TransitionTools(choices),
): GenerationRequest {
  return {
    messages: [{ role: 'system', content: choiceInstructions(promptContext) }, ...messages],
    tools: tools.declarations,
    toolChoice: 'auto',
    brief: { purpose: 'decide', language: promptContext.language, transitions: tools.transitions },
  }
}

function choiceForm(options: QuestionOptions, question: Extract<Question, { type: 'decide' }>): Form {
  const tools = new TransitionTools(question.choices)
  return { request: choiceRequest(options, question, tools), read: ({ name }) => tools.choiceOf(name) }
}

export const INFERENCE_TOOLS = {
  arguments: { tool: 'use_arguments', member: null, description: 'The arguments of what is to be done.' },
  digits: { tool: 'press_digits', member: 'digits', description: 'The keys to press: 0-9 * # and w, a pause.' },
  transfer_destination: {
    tool: 'transfer_to',
    member: 'destination',
    description: 'The phone number to transfer the caller to.',
  },
  variables: { tool: 'keep_variables', member: null, description: 'What was said, by name.' },
} as const

function inferenceForm(
  { promptContext, messages }: QuestionOptions,
  question: Exclude<Question, { type: 'decide' }>,
): Form {
  const purpose = question.type === 'extract' ? 'variables' : question.purpose
  const { tool, member, description } = INFERENCE_TOOLS[purpose]
  const prompt = question.type === 'extract' ? '' : question.prompt
  const schema = question.type === 'extract' ? variablesSchema(question.variables) : question.schema
  return {
    request: {
      messages: [{ role: 'system', content: inferenceInstructions(promptContext, tool, prompt) }, ...messages],
      tools: [{ name: tool, description, parameters: member === null ? schema : wrapped(member, schema) }],
      toolChoice: { name: tool },
      brief: { purpose, language: promptContext.language, prompt, tool },
    },
    read: ({ name }, args) => {
      if (name !== tool) return undefined
      return member === null ? args : textIn(args, member)
    },
  }
}

/** The member as text; models also send digits as numbers. Null: there is none. */
function textIn(args: Readonly<Record<string, unknown>>, member: string): string | null {
  const value = Object.hasOwn(args, member) ? args[member] : null
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' ? value : null
}
