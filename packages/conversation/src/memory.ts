import type { ChatMessage, ToolCall } from '@parley/providers'

/** What a model is shown of a conversation; older turns are left out. */
const MOST_CHARACTERS = 65_536
/** Of one tool's answer. */
const MOST_OF_A_RESULT = 16_384

const STILL_RUNNING = '{"status":"in progress"}'

/** A line of the agent: its place in the conversation from when it was asked for, its words once they were heard. */
export interface AgentLine {
  /** What was heard; while it is coming, what is about to be said. */
  text: string
  /** `withdrawn`: it will not be said, and it is not known yet what was heard of it. */
  state: 'coming' | 'withdrawn' | 'heard'
  interrupted: boolean
}

interface UserLine {
  readonly kind: 'user'
  readonly text: string
}

interface Call {
  readonly kind: 'call'
  readonly call: ToolCall
  /** Calls of one answer of the model share it. */
  readonly answer: string
  result: string | null
}

type Entry = UserLine | { readonly kind: 'agent'; readonly line: AgentLine } | Call

/**
 * What a conversation remembers, in the order in which it was heard: turns of the caller, what they heard of the agent,
 * tool calls with what came of them. A line of the agent that was cut ends with a dash.
 */
export class Memory {
  #entries: Entry[] = []
  readonly #calls = new Map<string, Call>()
  #nextCall = 1

  /** A turn of the caller. Lines of the agent that have no words yet will be heard after it. */
  user(text: string): void {
    const wordless = this.#entries.filter(
      entry => entry.kind === 'agent' && entry.line.state === 'coming' && entry.line.text === '',
    )
    if (wordless.length > 0) this.#entries = this.#entries.filter(entry => !wordless.includes(entry))
    this.#entries.push({ kind: 'user', text }, ...wordless)
    this.#forget()
  }

  /** A line the agent is about to say. */
  agent(): AgentLine {
    const line: AgentLine = { text: '', state: 'coming', interrupted: false }
    this.#entries.push({ kind: 'agent', line })
    return line
  }

  /** What was heard of the line in the end; blank: as if it had never been. */
  heard(line: AgentLine, text: string, interrupted: boolean): void {
    line.text = text
    line.state = 'heard'
    line.interrupted = interrupted
    if (text.trim() === '') this.#entries = this.#entries.filter(entry => entry.kind !== 'agent' || entry.line !== line)
  }

  /** A tool was called. Gives the id under which its result is kept. */
  called(name: string, args: Readonly<Record<string, unknown>>, answer: string): string {
    const id = `call_${this.#nextCall++}`
    const call: Call = { kind: 'call', call: { id, name, argumentsText: textOf(args) }, answer, result: null }
    this.#entries.push(call)
    this.#calls.set(id, call)
    this.#forget()
    return id
  }

  /** Stands with its call, whatever was said meanwhile. */
  result(callId: string, value: unknown): void {
    const call = this.#calls.get(callId)
    if (call === undefined) return
    this.#calls.delete(callId)
    call.result = clip(textOf(value), MOST_OF_A_RESULT)
  }

  /** What was heard. */
  messages(): ChatMessage[] {
    return inMessages(
      this.#newest(this.#entries).filter(entry => entry.kind !== 'agent' || entry.line.state === 'heard'),
    )
  }

  /** What was heard and, as if heard, what the agent is about to say: whatever is generated now follows upon that. */
  messagesAhead(): ChatMessage[] {
    return ahead(this.#newest(this.#entries))
  }

  /** The same as it would be after this turn of the caller. */
  messagesAfter(turn: string): ChatMessage[] {
    return ahead(this.#newest([...this.#entries, { kind: 'user', text: turn }]))
  }

  /** The newest entries that fit, from a turn of the caller on; a single turn that does not fit is cut between entries. */
  #newest(entries: readonly Entry[]): Entry[] {
    let room = MOST_CHARACTERS
    let start = entries.length
    let turn = entries.length
    for (let index = entries.length - 1; index >= 0; index--) {
      room -= sizeOf(entries[index]!)
      if (room < 0) break
      start = index
      if (entries[index]!.kind === 'user' || index === 0) turn = index
    }
    return entries.slice(turn < entries.length ? turn : start)
  }

  /** A conversation of days must not fill the memory of the process. */
  #forget(): void {
    const size = this.#entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
    if (size > 2 * MOST_CHARACTERS) this.#entries = this.#newest(this.#entries)
  }
}

function ahead(entries: readonly Entry[]): ChatMessage[] {
  return inMessages(entries.filter(entry => entry.kind !== 'agent' || entry.line.state !== 'withdrawn'))
}

function inMessages(entries: readonly Entry[]): ChatMessage[] {
  const messages: ChatMessage[] = []
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!
    if (entry.kind === 'user') messages.push({ role: 'user', content: entry.text })
    else if (entry.kind === 'call') {
      const calls = callsOfOneAnswer(entries, index)
      messages.push(...withResults('', calls))
      index += calls.length - 1
    } else if (entry.line.text.trim() !== '') {
      const calls = callsOfOneAnswer(entries, index + 1)
      messages.push(...withResults(contentOf(entry.line), calls))
      index += calls.length
    }
  }
  return messages
}

function callsOfOneAnswer(entries: readonly Entry[], from: number): Call[] {
  const calls: Call[] = []
  for (const entry of entries.slice(from)) {
    if (entry.kind !== 'call' || (calls.length > 0 && entry.answer !== calls[0]!.answer)) break
    calls.push(entry)
  }
  return calls
}

function withResults(content: string, calls: readonly Call[]): ChatMessage[] {
  if (calls.length === 0) return [{ role: 'assistant', content }]
  return [
    { role: 'assistant', content, toolCalls: calls.map(({ call }) => call) },
    ...calls.map(({ call, result }): ChatMessage => {
      return { role: 'tool', toolCallId: call.id, content: result ?? STILL_RUNNING }
    }),
  ]
}

function contentOf(line: AgentLine): string {
  return line.interrupted ? `${line.text.trim()} —` : line.text.trim()
}

function sizeOf(entry: Entry): number {
  if (entry.kind === 'user') return entry.text.length
  return entry.kind === 'agent' ? entry.line.text.length : entry.call.argumentsText.length + (entry.result ?? '').length
}

/** Text as it is, everything else as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
}

function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (cut)`
}
