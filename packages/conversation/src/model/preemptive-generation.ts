import type { ModelRef } from '@parley/flow'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import type { EffectLedger } from '../ledger.ts'
import { InferenceRow } from './inference-row.ts'

/** Maximum buffered events; answers are shorter until the caller's turn ends. */
const MAX_EVENTS = 4000

/** Counts of preemptive requests. Tokens are those that the models reported for discarded answers. */
export interface PreemptiveGenerationReport {
  readonly asked: number
  readonly used: number
  readonly dropped: number
  readonly droppedInputTokens: number
  readonly droppedOutputTokens: number
}

interface PreemptiveGenerationOptions {
  readonly models: (ref: ModelRef | null) => LanguageModel
  readonly ledger: EffectLedger
}

type Usage = Extract<GenerationEvent, { type: 'usage' }>

interface PreemptiveRequest {
  readonly key: string
  readonly answer: BufferedAnswer
  readonly row: InferenceRow
}

/**
 * Sends a request to the model before the caller's turn is certainly over, and buffers the answer. The same request, made
 * later, is answered from the buffer; otherwise the answer is discarded. One request at a time.
 */
export class PreemptiveGeneration {
  readonly #options: PreemptiveGenerationOptions
  readonly #writing = new Set<Promise<void>>()
  #pending: PreemptiveRequest | null = null
  #epoch = 0
  #report = { asked: 0, used: 0, dropped: 0, droppedInputTokens: 0, droppedOutputTokens: 0 }

  constructor(options: PreemptiveGenerationOptions) {
    this.#options = options
  }

  get report(): PreemptiveGenerationReport {
    return this.#report
  }

  /** Changes when a request is used or dropped: one that was prepared before is out of date. */
  get epoch(): number {
    return this.#epoch
  }

  /** Sends the request; drops an earlier one, unless it is the same. */
  begin(ref: ModelRef | null, nodeId: string | null, request: GenerationRequest): void {
    const key = keyOf(ref, request)
    if (this.#pending?.key === key) return
    this.drop()
    let model: LanguageModel
    try {
      model = this.#options.models(ref)
    } catch {
      // The regular request reports the failure.
      return
    }
    this.#report.asked++
    const row = new InferenceRow(this.#options.ledger, nodeId)
    row.sending()
    this.#pending = { key, answer: new BufferedAnswer(model, request), row }
  }

  /** A model that replays the buffered answer, where the request is the same; null: send the request anew. */
  take(ref: ModelRef | null, request: GenerationRequest): LanguageModel | null {
    this.#epoch++
    const pending = this.#pending
    if (pending === null || pending.key !== keyOf(ref, request)) return null
    this.#pending = null
    if (pending.answer.failed) {
      this.#discard(pending.answer)
      this.#settle(pending, 'model_failed')
      return null
    }
    this.#report.used++
    // The request that uses the answer has its own ledger row; this row records that it was sent early.
    this.#settle(pending, null)
    return pending.answer.asModel()
  }

  /** The caller went on speaking: discards the answer. */
  drop(): void {
    this.#epoch++
    const pending = this.#pending
    if (pending === null) return
    this.#pending = null
    this.#report.dropped++
    this.#discard(pending.answer)
    this.#settle(pending, 'cancelled')
  }

  /** Resolves when the ledger has stored all finished requests. */
  async written(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing)
  }

  #discard(answer: BufferedAnswer): void {
    answer.discard(({ inputTokens, outputTokens }) => {
      this.#report.droppedInputTokens += inputTokens
      this.#report.droppedOutputTokens += outputTokens
    })
  }

  #settle({ row }: PreemptiveRequest, errorCode: string | null): void {
    const written = row.settle(errorCode)
    this.#writing.add(written)
    void written.then(() => this.#writing.delete(written))
  }
}

/** Key of a request. It ignores punctuation and capitals of the caller's last words, which the recogniser may still change. */
function keyOf(ref: ModelRef | null, request: GenerationRequest): string {
  const last = request.messages.at(-1)
  if (last?.role !== 'user') return JSON.stringify([ref, request])
  const words = last.content.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return JSON.stringify([ref, { ...request, messages: request.messages.slice(0, -1) }, words])
}

/** An answer that is buffered while it arrives. */
class BufferedAnswer {
  readonly #model: LanguageModel
  readonly #controller = new AbortController()
  readonly #events: GenerationEvent[] = []
  #state: 'arriving' | 'complete' | 'failed' = 'arriving'
  #error: unknown
  #wake: (() => void) | null = null
  #onUsage: (usage: Usage) => void = () => {}

  constructor(model: LanguageModel, request: GenerationRequest) {
    this.#model = model
    void this.#listen(request)
  }

  get failed(): boolean {
    return this.#state === 'failed'
  }

  /** Stops the model. `onUsage` gets the usage, which some models report only when they are stopped. */
  discard(onUsage: (usage: Usage) => void): void {
    const reported = this.#events.find(event => event.type === 'usage')
    if (reported === undefined) this.#onUsage = onUsage
    else onUsage(reported)
    this.stop()
  }

  stop(): void {
    this.#controller.abort()
  }

  asModel(): LanguageModel {
    const { identity } = this.#model
    return {
      identity,
      readiness: () => this.#model.readiness(),
      generate: (_request, signal) => this.#replay(signal),
      close: async () => {},
    }
  }

  async #listen(request: GenerationRequest): Promise<void> {
    try {
      for await (const event of this.#model.generate(request, this.#controller.signal)) {
        this.#events.push(event)
        if (event.type === 'usage') this.#onUsage(event)
        this.#wake?.()
        if (this.#events.length >= MAX_EVENTS) break
      }
      this.#state = 'complete'
    } catch (error) {
      this.#state = 'failed'
      this.#error = error
    }
    this.#wake?.()
  }

  async *#replay(signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    const stop = () => {
      this.stop()
      this.#wake?.()
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      for (let next = 0; ; ) {
        if (signal.aborted) return
        const event = this.#events[next]
        if (event !== undefined) {
          next++
          yield event
        } else if (this.#state === 'failed') throw this.#error
        else if (this.#state === 'complete') return
        else {
          await new Promise<void>(resolve => {
            this.#wake = resolve
          })
          this.#wake = null
        }
      }
    } finally {
      signal.removeEventListener('abort', stop)
      this.stop()
    }
  }
}
