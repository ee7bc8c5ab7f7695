import type { ChatMessage, ToolCall } from '@parley/providers'

/** Maximum characters of a conversation in one model request; older turns are left out. */
const MAX_CHARACTERS = 65_536
/** Maximum characters of what was heard with another agent before. */
const MAX_HISTORY_CHARACTERS = 16_384
/** Maximum characters of one tool result. */
const MAX_RESULT_CHARACTERS = 16_384

const STILL_RUNNING = '{"status":"in progress"}'

/** A line of the agent. It has its place in the conversation when it is requested, and its final text after playback. */
export interface AgentLine {
  /** The text that was heard; in state `coming`, the text that is about to be spoken. */
  text: string
  /** `withdrawn`: cancelled, and the playback report that says what was heard has not come yet. */
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
  /** Id shared by the tool calls of one model answer. */
  readonly answer: string
  result: string | null
}

type Entry = UserLine | { readonly kind: 'agent'; readonly line: AgentLine } | Call

/**
 * The history of a conversation for model requests, in the order in which it was heard: caller turns, the heard part of
 * agent lines, tool calls with their results. An interrupted agent line ends with a dash.
 */
export class Memory {
  #entries: Entry[] = []
  readonly #calls = new Map<string, Call>()
  #nextCall = 1
  /** What was heard with another agent before. */
  readonly #history: readonly ChatMessage[]

  /** `history`: what was heard before, newest last. Its newest turns are kept, without tool calls: this agent has other tools. */
  constructor(history: readonly ChatMessage[] = []) {
    this.#history = newestTurns(withoutTools(history), MAX_HISTORY_CHARACTERS)
  }

  /** Adds a caller turn. Agent lines without words move behind it, since they will be heard after it. */
  user(text: string): void {
    const wordless = this.#entries.filter(
      entry => entry.kind === 'agent' && entry.line.state === 'coming' && entry.line.text === '',
    )
    if (wordless.length > 0) this.#entries = this.#entries.filter(entry => !wordless.includes(entry))
    this.#entries.push({ kind: 'user', text }, ...wordless)
    this.#forget()
  }

  /** Returns a function that takes back the caller's turns and the tool calls that are added from now on. */
  mark(): () => void {
    const before = new Set(this.#entries)
    return () => {
      this.#entries = this.#entries.filter(entry => entry.kind === 'agent' || before.has(entry))
    }
  }

  /** Forgets everything that was said. */
  clear(): void {
    this.#entries = []
  }

  /** Adds a line that the agent is about to say. */
  agent(): AgentLine {
    const line: AgentLine = { text: '', state: 'coming', interrupted: false }
    this.#entries.push({ kind: 'agent', line })
    return line
  }

  /** Sets the text of the line that was heard; a blank text removes the line. */
  heard(line: AgentLine, text: string, interrupted: boolean): void {
    line.text = text
    line.state = 'heard'
    line.interrupted = interrupted
    if (text.trim() === '') this.#entries = this.#entries.filter(entry => entry.kind !== 'agent' || entry.line !== line)
  }

  /** Adds a tool call and returns the id for its `result`. */
  called(name: string, args: Readonly<Record<string, unknown>>, answer: string): string {
    const id = `call_${this.#nextCall++}`
    const call: Call = { kind: 'call', call: { id, name, argumentsText: textOf(args) }, answer, result: null }
    this.#entries.push(call)
    this.#calls.set(id, call)
    this.#forget()
    return id
  }

  /** Stores the result beside its call, whatever was said in between. Unknown ids are ignored. */
  result(callId: string, value: unknown): void {
    const call = this.#calls.get(callId)
    if (call === undefined) return
    this.#calls.delete(callId)
    call.result = clip(textOf(value), MAX_RESULT_CHARACTERS)
  }

  /** Messages of everything that was heard. */
  messages(): ChatMessage[] {
    const heard = this.#newest(this.#entries).filter(entry => entry.kind !== 'agent' || entry.line.state === 'heard')
    return [...this.#history, ...inMessages(heard)]
  }

  /** Like `messages`, with pending agent lines counted as heard, since text generated now is spoken after them. */
  messagesAhead(): ChatMessage[] {
    return [...this.#history, ...ahead(this.#newest(this.#entries))]
  }

  /** `messagesAhead` as it would be after this caller turn. */
  messagesAfter(turn: string): ChatMessage[] {
    return [...this.#history, ...ahead(this.#newest([...this.#entries, { kind: 'user', text: turn }]))]
  }

  /** The newest entries that fit, starting at a caller turn; a single turn that does not fit is cut between entries. */
  #newest(entries: readonly Entry[]): Entry[] {
    let remaining = MAX_CHARACTERS
    let start = entries.length
    let turn = entries.length
    for (let index = entries.length - 1; index >= 0; index--) {
      remaining -= sizeOf(entries[index]!)
      if (remaining < 0) break
      start = index
      if (entries[index]!.kind === 'user' || index === 0) turn = index
    }
    return entries.slice(turn < entries.length ? turn : start)
  }

  /** Drops old entries, so that a conversation of any length uses bounded memory. */
  #forget(): void {
    const size = this.#entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
    if (size > 2 * MAX_CHARACTERS) this.#entries = this.#newest(this.#entries)
  }
}

function withoutTools(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.flatMap(({ role, content }) =>
    (role === 'user' || role === 'assistant') && content !== '' ? [{ role, content }] : [],
  )
}

/** The newest messages of at most this many characters, from a turn of the caller on. */
function newestTurns(messages: readonly ChatMessage[], characters: number): readonly ChatMessage[] {
  let remaining = characters
  let start = messages.length
  for (let index = messages.length - 1; index >= 0; index--) {
    remaining -= messages[index]!.content.length
    if (remaining < 0) break
    if (messages[index]!.role === 'user' || index === 0) start = index
  }
  return messages.slice(start)
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

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (cut)`
}
