import type { AgentLine, Memory } from './memory.ts'
import type { SpokenPiece } from './model/ask-model.ts'
import type { ConversationEvent } from './protocol.ts'

/** One utterance of the agent, from its request to the report of how much of it was heard. */
export interface Speech {
  readonly id: string
  /** Request id of the flow's `say` or `prompt`; null for words that the flow did not request. */
  readonly requestId: string | null
  /** Null: it belongs to no node. */
  readonly nodeId: string | null
  readonly line: AgentLine
  /** `lost`: withdrawn, and no report came in time. */
  state: 'open' | 'complete' | 'withdrawn' | 'lost' | 'reported'
}

/** The agent's current and pending utterances, in order. Each is reported once, which removes it. */
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

  begin(requestId: string | null, nodeId: string | null, source: 'static' | 'model'): Speech {
    const speech: Speech = {
      id: `speech_${this.#next++}`,
      requestId,
      nodeId,
      line: this.#memory.agent(),
      state: 'open',
    }
    this.#unreported.set(speech.id, speech)
    this.#emit({ type: 'speech', speech_id: speech.id, node_id: nodeId, source, isHolding: false })
    return speech
  }

  /** Says a holding line now, before the speeches that are not audible. It is in the transcript, not in the model's memory. */
  hold(nodeId: string, text: string): void {
    const id = `speech_${this.#next++}`
    const line: AgentLine = { text, state: 'coming', interrupted: false }
    this.#unreported.set(id, { id, requestId: null, nodeId, line, state: 'complete' })
    this.#emit({ type: 'speech', speech_id: id, node_id: nodeId, source: 'static', isHolding: true })
    this.#emit({ type: 'speech-text', speech_id: id, delta: text })
    this.#emit({ type: 'speech-end', speech_id: id })
  }

  /** Adds text. Leading white space is dropped, and so is text after the end of the speech. */
  add(speech: Speech, delta: string): void {
    if (speech.state !== 'open') return
    const text = speech.line.text === '' ? delta.trimStart() : delta
    if (text === '') return
    speech.line.text += text
    this.#emit({ type: 'speech-text', speech_id: speech.id, delta: text })
  }

  /** Adds a piece that the model speaks itself. */
  play(speech: Speech, piece: SpokenPiece): void {
    if (speech.state !== 'open') return
    speech.line.text += piece.delta
    this.#emit({ type: 'speech-audio', speech_id: speech.id, piece })
  }

  complete(speech: Speech): void {
    if (speech.state !== 'open') return
    speech.state = 'complete'
    this.#emit({ type: 'speech-end', speech_id: speech.id })
  }

  /** Withdraws all speeches that are not reported yet. */
  withdrawAll(): void {
    for (const speech of [...this.#unreported.values()]) {
      if (speech.state !== 'open' && speech.state !== 'complete') continue
      speech.state = 'withdrawn'
      speech.line.state = 'withdrawn'
      this.#emit({ type: 'speech-withdrawn', speech_id: speech.id })
    }
  }

  /** Marks the speech as reported and returns it; undefined: it is unknown or already reported. */
  report(id: string): Speech | undefined {
    const speech = this.#unreported.get(id)
    if (speech === undefined) return undefined
    this.#unreported.delete(id)
    speech.state = 'reported'
    this.#isOver(id)
    return speech
  }

  /** Stops waiting for reports of withdrawn speeches; they may still come. */
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

  /** Resolves when every speech begun until now is reported, or the queue is closed. */
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

  /** Releases everything that waits for reports. */
  close(): void {
    this.#isClosed = true
    for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  /** Marks all open speeches as complete: no more text comes. */
  completeAll(): void {
    for (const speech of this.#unreported.values()) this.complete(speech)
  }

  /** A withdrawn speech is not reported yet. */
  get hasWithdrawn(): boolean {
    return [...this.#unreported.values()].some(({ state }) => state === 'withdrawn')
  }

  /** A speech is being spoken, or will be. */
  get hasMore(): boolean {
    return [...this.#unreported.values()].some(({ state }) => state === 'open' || state === 'complete')
  }
}
