import type { Ms } from '@parley/kernel'
import type { FakeMessage } from '../models/chat-request.ts'
import type { FakeSpeech } from '../protocol.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Audio that a fake model speaks: what is left of it decides what the model remembers. */
interface SpokenAudio {
  readonly durationMs: Ms
  readonly words: FakeSpeech['words']
}

export type FakeRealtimeItem =
  | {
      readonly id: string
      readonly type: 'message'
      readonly role: 'user' | 'assistant' | 'system'
      text: string
      audio: SpokenAudio | null
      /** The caller's audio: what was said in two pieces is one turn to the model. */
      readonly isHeard?: boolean
    }
  | {
      readonly id: string
      readonly type: 'function_call'
      readonly callId: string
      readonly name: string
      argumentsText: string
    }
  | { readonly id: string; readonly type: 'function_call_output'; readonly callId: string; readonly output: string }

/** Why a client's event is refused: code and message, as OpenAI writes them. */
export interface RealtimeRefusal {
  readonly code: string | null
  readonly message: string
}

/** The conversation of one session, as the service keeps it. */
export class RealtimeItems {
  readonly #items: FakeRealtimeItem[] = []
  #next = 1

  newId(): string {
    return `item_${this.#next++}`
  }

  get ids(): readonly string[] {
    return this.#items.map(({ id }) => id)
  }

  add(item: FakeRealtimeItem): void {
    this.#items.push(item)
  }

  /** `conversation.item.create`; null: it was added. */
  create(item: JsonObject, previous: unknown): RealtimeRefusal | null {
    const at = previous === undefined ? this.#items.length : previous === 'root' ? 0 : this.#indexOf(previous) + 1
    if (at === 0 && previous !== 'root')
      return { code: 'item_create_previous_item_not_found', message: `No item with id ${String(previous)} exists.` }
    const read = this.#read(item)
    if ('message' in read) return read
    this.#items.splice(at, 0, read)
    return null
  }

  delete(id: unknown): RealtimeRefusal | null {
    const at = this.#indexOf(id)
    if (at < 0) return { code: 'item_delete_invalid_item_id', message: `No item with id ${String(id)} exists.` }
    this.#items.splice(at, 1)
    return null
  }

  /** The model forgets the words that begin after `endMs`. */
  truncate(id: unknown, endMs: unknown): RealtimeRefusal | null {
    const item = this.#items[this.#indexOf(id)]
    if (item?.type !== 'message' || item.audio === null || typeof endMs !== 'number' || endMs <= 0)
      return { code: 'unsupported_content_type', message: 'Only model output audio messages can be truncated' }
    const { durationMs, words } = item.audio
    if (endMs > durationMs)
      return { code: 'invalid_value', message: `Audio content of ${durationMs}ms is already shorter than ${endMs}ms` }
    const heard = words.filter(({ startMs }) => startMs < endMs).map(({ text }) => text)
    item.text = `${heard.join(' ')} —`
    item.audio = { durationMs: endMs, words: words.slice(0, heard.length) }
    return null
  }

  /** What the model reads and hears. */
  messages(): FakeMessage[] {
    const items: FakeRealtimeItem[] = []
    for (const item of this.#items) {
      const last = items.at(-1)
      const continues = isHeard(item) && last !== undefined && isHeard(last)
      if (continues) items[items.length - 1] = { ...last, text: `${last.text} ${item.text}` }
      else items.push(item)
    }
    return items.map((item): FakeMessage => {
      if (item.type === 'function_call_output') return { role: 'tool', toolCallId: item.callId, content: item.output }
      if (item.type === 'message' && item.role === 'assistant')
        return { role: 'assistant', content: item.text, toolCalls: [] }
      if (item.type === 'message') return { role: item.role === 'system' ? 'system' : 'user', content: item.text }
      const { callId, name, argumentsText } = item
      return { role: 'assistant', content: '', toolCalls: [{ id: callId, name, argumentsText }] }
    })
  }

  #indexOf(id: unknown): number {
    return this.#items.findIndex(item => item.id === id)
  }

  #read(item: JsonObject): FakeRealtimeItem | RealtimeRefusal {
    const id = typeof item.id === 'string' ? item.id : this.newId()
    if (id.length > 32) return { code: 'string_above_max_length', message: `Invalid 'item.id': string too long.` }
    if (this.#indexOf(id) >= 0) return { code: 'item_create_id_exists', message: `Item ${id} exists already.` }
    const callId = String(item.call_id ?? '')
    switch (item.type) {
      case 'message':
        return messageOf(id, item)
      case 'function_call':
        return { id, type: item.type, callId, name: String(item.name), argumentsText: String(item.arguments) }
      case 'function_call_output': {
        const isKnown = this.#items.some(other => other.type === 'function_call' && other.callId === callId)
        if (!isKnown) return { code: 'invalid_tool_call_id', message: `No tool call found for call_id ${callId}.` }
        return { id, type: item.type, callId, output: String(item.output) }
      }
      default:
        return { code: 'invalid_value', message: `Invalid value: '${String(item.type)}'.` }
    }
  }
}

function isHeard(item: FakeRealtimeItem): item is Extract<FakeRealtimeItem, { type: 'message' }> {
  return item.type === 'message' && item.isHeard === true
}

function messageOf(id: string, { role, content }: JsonObject): FakeRealtimeItem | RealtimeRefusal {
  const expected = role === 'assistant' ? 'output_text' : 'input_text'
  const parts = Array.isArray(content) ? (content as readonly JsonObject[]) : []
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    return { code: 'invalid_value', message: `Invalid value: '${String(role)}'.` }
  if (parts.length === 0 || parts.some(part => part.type !== expected || typeof part.text !== 'string'))
    return { code: 'invalid_value', message: `Content of ${role} messages must be '${expected}'.` }
  return { id, type: 'message', role, text: parts.map(part => part.text as string).join(' '), audio: null }
}
