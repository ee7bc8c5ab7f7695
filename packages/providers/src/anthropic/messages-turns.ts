import { objectOf } from '../json-object.ts'
import type { ChatMessage, ToolCall } from '../language-model/language-model.ts'

/** A block of a turn, as the service writes it. */
type Block = Readonly<Record<string, unknown>> & { readonly type: 'text' | 'tool_use' | 'tool_result' }

export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

/** Before an answer that nobody asked for, such as a greeting. */
const BEGINNING = '[The conversation begins.]'
/** After the model's own words: no model since Claude 4.6 goes on from them. */
const SILENCE = '[No reply so far.]'
/** For a call whose result is not in the conversation: each must have one. */
const NO_RESULT = 'No result.'

/**
 * The conversation as the service wants it: turns of user and assistant that alternate, from the user to the user; no
 * blank texts; the results of an assistant's calls first in the very next turn, each exactly once; ids of calls that are
 * unique in the conversation (ours are unique in an answer only). System messages are left out.
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

class Turns {
  readonly #turns: { readonly role: Turn['role']; readonly content: Block[] }[] = []
  /** Calls of the newest assistant turn that have no result yet, with our id and the service's. */
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

  /** A result that no call waits for is told as a text. */
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

  /** Nothing more can answer the calls that wait still. */
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

  /** The blocks of the newest turn where it has this role, or of a new one. */
  #turn(role: Turn['role']): Block[] {
    const newest = this.#turns.at(-1)
    if (newest?.role === role) return newest.content
    const content: Block[] = []
    this.#turns.push({ role, content })
    return content
  }
}
