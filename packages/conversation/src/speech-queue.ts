import type { AgentLine, Memory } from './memory.ts'
import type { ConversationEvent } from './protocol.ts'

/** Something the agent says, from when it is asked for to the report of what was heard of it. */
export interface Speech {
  readonly id: string
  /** The flow's `say` or `prompt`; null for words that the flow did not ask for. */
  readonly requestId: string | null
  readonly nodeId: string
  readonly line: AgentLine
  /** `lost`: withdrawn, and nobody said in time what was heard of it. */
  state: 'open' | 'complete' | 'withdrawn' | 'lost' | 'reported'
}

/** What the agent is saying and about to say, in order. Each speech is reported once; one is over when it was. */
export class SpeechQueue {
  readonly #memory: Memory
  readonly #emit: (event: ConversationEvent) => void
  readonly #unreported = new Map<string, Speech>()
  #waiting: { readonly ids: Set<string>; readonly resolve: () => void }[] = []
  #next = 1
  #isClosed = false

  constructor(memory: Memory, emit: (event: ConversationEvent) => void) {
    this.#memory = memory
    this.#emit = emit
  }

  begin(requestId: string | null, nodeId: string, source: 'static' | 'model'): Speech {
    const speech: Speech = {
      id: `speech_${this.#next++}`,
      requestId,
      nodeId,
      line: this.#memory.agent(),
      state: 'open',
    }
    this.#unreported.set(speech.id, speech)
    this.#emit({ type: 'speech', speech_id: speech.id, node_id: nodeId, source })
    return speech
  }

  /** More of its text. Blank text does not begin a speech; what comes after its end is dropped. */
  add(speech: Speech, delta: string): void {
    if (speech.state !== 'open') return
    const text = speech.line.text === '' ? delta.trimStart() : delta
    if (text === '') return
    speech.line.text += text
    this.#emit({ type: 'speech-text', speech_id: speech.id, delta: text })
  }

  complete(speech: Speech): void {
    if (speech.state !== 'open') return
    speech.state = 'complete'
    this.#emit({ type: 'speech-end', speech_id: speech.id })
  }

  /** Takes back whatever was not heard yet. */
  withdrawAll(): void {
    for (const speech of [...this.#unreported.values()]) {
      if (speech.state !== 'open' && speech.state !== 'complete') continue
      speech.state = 'withdrawn'
      speech.line.state = 'withdrawn'
      this.#emit({ type: 'speech-withdrawn', speech_id: speech.id })
    }
  }

  /** The speech of that id, once. */
  report(id: string): Speech | undefined {
    const speech = this.#unreported.get(id)
    if (speech === undefined) return undefined
    this.#unreported.delete(id)
    speech.state = 'reported'
    this.#isOver(id)
    return speech
  }

  /** What was withdrawn and is not reported by now is waited for no longer; it may still be reported. */
  giveUp(): void {
    for (const speech of this.#unreported.values()) {
      if (speech.state !== 'withdrawn') continue
      speech.state = 'lost'
      this.#isOver(speech.id)
    }
  }

  #isOver(id: string): void {
    for (const { ids } of this.#waiting) ids.delete(id)
    this.#wake()
  }

  /** When all is reported that was begun until now, or nobody listens any more. */
  heardSoFar(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    return new Promise(resolve => {
      this.#waiting.push({ ids: new Set(this.#unreported.keys()), resolve })
      this.#wake()
    })
  }

  #wake(): void {
    const heard = this.#waiting.filter(({ ids }) => ids.size === 0)
    if (heard.length > 0) this.#waiting = this.#waiting.filter(({ ids }) => ids.size > 0)
    for (const { resolve } of heard) resolve()
  }

  /** Nobody waits for what is not reported. */
  close(): void {
    this.#isClosed = true
    for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  /** No more of what was begun is generated. */
  completeAll(): void {
    for (const speech of this.#unreported.values()) this.complete(speech)
  }

  /** Something was taken back of which it is not known yet how much was heard. */
  get hasWithdrawn(): boolean {
    return [...this.#unreported.values()].some(({ state }) => state === 'withdrawn')
  }

  /** Something is being said, or will be. */
  get hasMore(): boolean {
    return [...this.#unreported.values()].some(({ state }) => state === 'open' || state === 'complete')
  }
}
