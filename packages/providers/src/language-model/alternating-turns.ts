import { objectOf } from '../json-object.ts'
import type { ChatMessage, ToolCall, ToolDeclaration } from './language-model.ts'

/** A block of a turn, in the format of Anthropic's messages. */
type Block = Readonly<Record<string, unknown>> & { readonly type: 'text' | 'tool_use' | 'tool_result' }

export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

/** Precedes a first message of the assistant, such as a greeting. */
const BEGINNING = '[The conversation begins.]'
/** Follows a last message of the assistant: models refuse to continue one since Claude 4.6 and Gemini 3.6. */
const SILENCE = '[No reply so far.]'
/** Stands for a missing tool result: services require one for each call. */
const NO_RESULT = 'No result.'

/**
 * The conversation in the form that strict services require: alternating turns of user and assistant that begin and end
 * with the user, no blank texts, the result of each call exactly once at the start of the next turn, and call ids that
 * are unique in the conversation (Parley's are unique in an answer only). System messages are left out.
 */
export function turnsOf(messages: readonly ChatMessage[]): readonly Turn[] {
  const turns = new Turns()
  for (const message of messages) {
    if (message.role === 'user') turns.user(message.content)
    else if (message.role === 'assistant') turns.assistant(message.content, message.toolCalls ?? [])
    else if (message.role === 'tool') turns.result(message.toolCallId, message.content)
  }
  return turns.complete()
}

/** The tools that are called in a conversation, without their schemas: services refuse calls of tools that are not declared. */
export function toolsIn(turns: readonly Turn[]): readonly ToolDeclaration[] {
  const blocks = turns.flatMap(({ content }) => content)
  const names = new Set(blocks.flatMap(({ type, name }) => (type === 'tool_use' ? [String(name)] : [])))
  return [...names].map(name => ({ name, description: '', parameters: {} }))
}

class Turns {
  readonly #turns: { readonly role: Turn['role']; readonly content: Block[] }[] = []
  /** Calls of the newest assistant turn without a result: Parley's id and the id sent to the service. */
  #waiting: { readonly id: string; readonly ours: string }[] = []
  #calls = 0

  user(text: string): void {
    if (text.trim() !== '') this.#turn('user').push({ type: 'text', text })
  }

  assistant(text: string, calls: readonly ToolCall[]): void {
    if (text.trim() === '' && calls.length === 0) return
    this.#settle()
    const content = this.#turn('assistant')
    if (text.trim() !== '') content.push({ type: 'text', text })
    for (const { id, name, argumentsText } of calls) {
      const ours = `call_${++this.#calls}`
      this.#waiting.push({ id, ours })
      content.push({ type: 'tool_use', id: ours, name, input: objectOf(argumentsText) ?? {} })
    }
  }

  /** A result without a call becomes a text. */
  result(id: string, text: string): void {
    const call = this.#waiting.find(waiting => waiting.id === id)
    if (call === undefined) return this.user(`[Result of a tool: ${text}]`)
    this.#waiting = this.#waiting.filter(waiting => waiting !== call)
    this.#answered(call.ours, text)
  }

  complete(): readonly Turn[] {
    this.#settle()
    if (this.#turns.length === 0) this.user(BEGINNING)
    if (this.#turns.at(-1)!.role === 'assistant') this.user(SILENCE)
    const beginning: Turn = { role: 'user', content: [{ type: 'text', text: BEGINNING }] }
    return this.#turns[0]!.role === 'assistant' ? [beginning, ...this.#turns] : this.#turns
  }

  /** Adds placeholder results for the calls without one. */
  #settle(): void {
    for (const { ours } of this.#waiting) this.#answered(ours, NO_RESULT)
    this.#waiting = []
  }

  #answered(call: string, text: string): void {
    const content = this.#turn('user')
    const results = content.filter(({ type }) => type === 'tool_result').length
    const block = { type: 'tool_result', tool_use_id: call, ...(text.trim() !== '' && { content: text }) } as const
    content.splice(results, 0, block)
  }

  /** The blocks of the newest turn if it has this role, else of a new turn. */
  #turn(role: Turn['role']): Block[] {
    const newest = this.#turns.at(-1)
    if (newest?.role === role) return newest.content
    const content: Block[] = []
    this.#turns.push({ role, content })
    return content
  }
}
