import type { Ms } from '@parley/kernel'
import { objectOf } from '../../json-object.ts'
import type { ChatMessage } from '../../language-model/language-model.ts'

/** An event that the session sends to the service. */
export type ClientEvent = Readonly<Record<string, unknown>> & { readonly type: string }

interface Item {
  readonly id: string
  readonly kind: 'user' | 'assistant' | 'call' | 'result'
  /** What is compared: the words of a message, name and arguments of a call, call and text of a result. Null: not known yet. */
  key: string | null
  /** Of calls and results: the service's id of the call. */
  readonly callId: string
}

/** An item as a request wants it. */
interface WantedItem {
  readonly kind: Item['kind']
  readonly key: string
  /** The conversation's id of the call; empty for messages. */
  readonly callId: string
  readonly content: Readonly<Record<string, unknown>>
}

/** The words of a turn of the caller of which there is no transcript, as conversations write them. */
const WITHOUT_TRANSCRIPT = 'unintelligible'
/** Longest id of an item is 32 characters. */
const ID_PREFIX = 'parley_'
/** Shorter rests are not worth a truncation. */
const TOLERANCE_MS: Ms = 20

/**
 * The conversation that the service keeps, as far as this session knows it, and the events that make it equal to the messages of a
 * request: audio of which the messages have the words stays, everything else is deleted or written as text.
 */
export class ConversationItems {
  #items: Item[] = []
  #next = 1

  /** The caller's audio became an item, whose transcript is not known yet. */
  heardAudio(id: string): void {
    this.#items.push({ id, kind: 'user', key: null, callId: '' })
  }

  transcribed(id: string, transcript: string): void {
    const item = this.#find(id)
    if (item !== undefined) item.key = wordsOf(transcript) || WITHOUT_TRANSCRIPT
  }

  /** The model begins a message. */
  speaks(id: string): void {
    this.#items.push({ id, kind: 'assistant', key: null, callId: '' })
  }

  /** The transcript of a message of the model, or the part of it that was heard. */
  spoke(id: string, text: string): void {
    const item = this.#find(id)
    if (item !== undefined) item.key = wordsOf(text)
  }

  called(id: string, callId: string, name: string, argumentsText: string): void {
    this.#items.push({ id, kind: 'call', key: callKey(name, argumentsText), callId })
  }

  /** The event after `playedMs` of a message of `audioMs` were played, as `text`; null: all of it was. */
  truncation(id: string, audioMs: Ms, playedMs: Ms, text: string): ClientEvent | null {
    if (this.#find(id) === undefined || audioMs - playedMs <= TOLERANCE_MS) return null
    const audio_end_ms = Math.floor(playedMs)
    // The service refuses a truncation to nothing.
    if (audio_end_ms <= 0) return this.#deleted(id)
    this.spoke(id, text)
    return { type: 'conversation.item.truncate', item_id: id, content_index: 0, audio_end_ms }
  }

  /** The events that make the service's conversation equal to `messages`, of which instructions are no part. */
  reconcile(messages: readonly ChatMessage[]): ClientEvent[] {
    const events: ClientEvent[] = []
    const callIds = new Map<string, string>()
    const before = this.#items
    const after: Item[] = []
    let at = 0
    for (const wanted of wantedItems(messages)) {
      const callId = callIds.get(wanted.callId) ?? wanted.callId
      const run = runOf(before, at, wanted, callId)
      if (run === null) {
        const item: Item = { id: `${ID_PREFIX}${this.#next++}`, kind: wanted.kind, key: wanted.key, callId }
        const call = callId === '' ? {} : { call_id: callId }
        events.push({
          type: 'conversation.item.create',
          previous_item_id: after.at(-1)?.id ?? 'root',
          item: { id: item.id, ...wanted.content, ...call },
        })
        after.push(item)
        continue
      }
      for (const unwanted of before.slice(at, run.from)) events.push(deletion(unwanted.id))
      const kept = before.slice(run.from, run.to)
      if (wanted.kind === 'call') callIds.set(wanted.callId, kept[0]!.callId)
      after.push(...kept)
      at = run.to
    }
    for (const unwanted of before.slice(at)) events.push(deletion(unwanted.id))
    this.#items = after
    return events
  }

  #deleted(id: string): ClientEvent {
    this.#items = this.#items.filter(item => item.id !== id)
    return deletion(id)
  }

  #find(id: string): Item | undefined {
    return this.#items.find(item => item.id === id)
  }
}

function deletion(id: string): ClientEvent {
  return { type: 'conversation.item.delete', item_id: id }
}

/** The first items from `at` on that together are what is wanted: a turn may have been heard, or spoken, in several pieces. */
function runOf(
  items: readonly Item[],
  at: number,
  wanted: WantedItem,
  callId: string,
): { readonly from: number; readonly to: number } | null {
  for (let from = at; from < items.length; from++) {
    let key = ''
    for (let to = from; to < items.length; to++) {
      const item = items[to]!
      if (item.kind !== wanted.kind || item.key === null) break
      if (item.kind === 'result' && item.callId !== callId) break
      key = key === '' ? item.key : `${key} ${item.key}`
      if (key === wanted.key) return { from, to: to + 1 }
      if (!wanted.key.startsWith(`${key} `)) break
    }
  }
  return null
}

function wantedItems(messages: readonly ChatMessage[]): WantedItem[] {
  const known = new Set<string>()
  return messages.flatMap((message): WantedItem[] => {
    if (message.role === 'system') return []
    if (message.role === 'tool') {
      // The service refuses a result without its call.
      if (!known.delete(message.toolCallId)) return []
      const content = { type: 'function_call_output', output: message.content }
      return [{ kind: 'result', key: message.content, callId: message.toolCallId, content }]
    }
    if (message.role !== 'assistant') return spoken('user', 'input_text', message.content)
    const calls = (message.toolCalls ?? []).map(({ id, name, argumentsText }): WantedItem => {
      known.add(id)
      const content = { type: 'function_call', name, arguments: argumentsText }
      return { kind: 'call', key: callKey(name, argumentsText), callId: id, content }
    })
    return [...spoken('assistant', 'output_text', message.content), ...calls]
  })
}

function spoken(role: 'user' | 'assistant', type: string, text: string): WantedItem[] {
  if (text.trim() === '') return []
  return [{ kind: role, key: wordsOf(text), callId: '', content: { type: 'message', role, content: [{ type, text }] } }]
}

/** Words without the punctuation and capitals that transcripts and conversations write differently. */
function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
}

function callKey(name: string, argumentsText: string): string {
  const parsed = objectOf(argumentsText === '' ? '{}' : argumentsText)
  return `${name} ${parsed === null ? argumentsText : JSON.stringify(parsed)}`
}
