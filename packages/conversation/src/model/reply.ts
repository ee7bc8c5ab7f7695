import type { FlowOutput } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import type { ChatMessage, GenerationRequest, ToolCall } from '@parley/providers'
import type { KnowledgePassage } from '../ports.ts'
import type { AnswerEnd } from './answer.ts'
import { askModel, type SpokenPiece, type Verdict } from './ask-model.ts'
import { type PromptContext, replyInstructions } from './instructions.ts'
import type { ModelRequests } from './model-requests.ts'
import { TransitionTools } from './transition-tools.ts'

/** Maximum length of a reply; the rest is dropped. */
const MAX_CHARACTERS = 8192

export type Prompt = Extract<FlowOutput, { type: 'prompt' }>

interface ReplyOptions {
  readonly requests: ModelRequests
  readonly prompt: Prompt
  readonly promptContext: PromptContext
  readonly temperature: number | undefined
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[]
  /** Passages of documents for the caller's last turn. */
  readonly passages: readonly KnowledgePassage[]
  readonly deadline: Ms
  readonly signal: AbortSignal
  readonly onText: (delta: string) => void
  readonly onSpeech: (piece: SpokenPiece) => void
  /** Called once for each complete tool call. */
  readonly onTool: (actionId: string, args: Readonly<Record<string, unknown>>) => void
}

export interface ReplyEnd {
  /** The id of the transition that the model chose; null: none. */
  readonly chosen: string | null
  readonly failure: { readonly code: string; readonly message: string } | null
  /** Errors that did not fail the reply as a whole. */
  readonly recoveredErrors: readonly { readonly code: string; readonly message: string }[]
}

/** Runs a prompt: streams the model's text, runs its tool calls and returns the transition that it chose. Never rejects. */
export async function reply(options: ReplyOptions): Promise<ReplyEnd> {
  return new Reply(options).run()
}

class Reply {
  readonly #options: ReplyOptions
  readonly #transitions: TransitionTools
  #characters = 0
  #chosen: string | null = null
  #hasCalled = false

  constructor(options: ReplyOptions) {
    this.#options = options
    this.#transitions = new TransitionTools(options.prompt.choices, options.prompt.tools)
  }

  async run(): Promise<ReplyEnd> {
    const { requests, prompt, deadline, signal } = this.#options
    const { end, refused } = await askModel({
      requests,
      model: prompt.model,
      nodeId: prompt.node_id,
      request: replyRequest(this.#options, this.#transitions),
      deadline,
      signal,
      onText: delta => this.#text(delta),
      onSpeech: piece => this.#speech(piece),
      onCall: (call, args) => this.#call(call, args),
    })
    const recoveredErrors = refused.map(code => ({
      code,
      message: 'The model called an unknown tool or sent invalid arguments; the call was dropped.',
    }))
    // An answer whose every call was dropped has failed, like no answer.
    const dropped = this.#isEmpty ? recoveredErrors.pop() : undefined
    if (this.#characters >= MAX_CHARACTERS)
      recoveredErrors.push({
        code: 'answer_too_long',
        message: `The model's answer was cut at ${MAX_CHARACTERS} characters.`,
      })
    return { chosen: this.#chosen, failure: this.#failure(end) ?? dropped ?? null, recoveredErrors }
  }

  get #isEmpty(): boolean {
    return this.#chosen === null && this.#characters === 0 && !this.#hasCalled
  }

  /** A reply with a chosen transition has succeeded, however it ended; one that ended before its first word has failed. */
  #failure(end: AnswerEnd): ReplyEnd['failure'] {
    if (this.#chosen !== null) return null
    if (end.type === 'failed') return end
    if (end.type !== 'finished' || this.#characters > 0 || this.#hasCalled) return null
    if (end.reason === 'content-filter')
      return { code: 'model_refused', message: 'The content filter of the model withheld the answer.' }
    return end.reason === 'length'
      ? { code: 'model_failed', message: 'The model reached its length limit before the first word of the answer.' }
      : null
  }

  #text(delta: string): boolean {
    const text = delta.slice(0, MAX_CHARACTERS - this.#characters)
    this.#characters += text.length
    if (text !== '') this.#options.onText(text)
    return this.#characters < MAX_CHARACTERS
  }

  #speech(piece: SpokenPiece): boolean {
    this.#characters += piece.delta.length
    this.#options.onSpeech(piece)
    return this.#characters < MAX_CHARACTERS
  }

  #call({ name }: ToolCall, args: Readonly<Record<string, unknown>> | null): Verdict {
    const choice = this.#transitions.choiceOf(name)
    if (choice !== undefined) {
      this.#chosen ??= choice
      return { type: 'settled', result: '{"status":"done"}' }
    }
    const tool = this.#options.prompt.tools.find(candidate => candidate.name === name)
    if (tool === undefined)
      return { type: 'refused', code: 'tool_unknown', result: '{"error":"There is no such tool."}' }
    if (args === null)
      return { type: 'refused', code: 'arguments_invalid', result: '{"error":"The arguments were no JSON object."}' }
    this.#hasCalled = true
    this.#options.onTool(tool.action_id, args)
    return { type: 'taken', result: '{"status":"in progress"}' }
  }
}

/** The model request of a reply. Equal prompts, settings and conversations make equal requests. */
export function replyRequest(
  {
    prompt,
    promptContext,
    messages,
    temperature,
    passages,
  }: Pick<ReplyOptions, 'prompt' | 'promptContext' | 'messages' | 'temperature' | 'passages'>,
  transitions = new TransitionTools(prompt.choices, prompt.tools),
): GenerationRequest {
  const { instruction, reason, choices, tools } = prompt
  const system = replyInstructions(promptContext, {
    instruction,
    reason,
    mayMove: choices.length > 0,
    hasTools: tools.length > 0,
    passages,
  })
  const declared = [
    ...tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    ...transitions.declarations,
  ]
  return {
    messages: [{ role: 'system', content: system }, ...messages],
    ...(declared.length > 0 && { tools: declared }),
    spoken: true,
    ...(temperature !== undefined && { temperature }),
    brief: {
      purpose: 'reply',
      language: promptContext.language,
      instruction: instruction.text,
      reason,
      transitions: transitions.transitions,
    },
  }
}
