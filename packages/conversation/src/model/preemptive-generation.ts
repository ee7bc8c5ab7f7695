import type { ModelRef } from '@parley/flow'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import type { EffectLedger } from '../ledger.ts'
import { InferenceRow } from './inference-row.ts'

/** Most events that are buffered; no answer is that long before the caller's turn is decided. */
const MOST_EVENTS = 4000

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
  readonly answer: HeldAnswer
  readonly row: InferenceRow
}

/**
 * Sends a request to the model before the caller's turn is certainly over, and buffers the answer. The same request, made
 * later, is answered from the buffer; otherwise the answer is discarded. One request at a time.
 */
export class PreemptiveGeneration {
  readonly #options: PreemptiveGenerationOptions
  readonly #writing = new Set<Promise<void>>()
  #held: PreemptiveRequest | null = null
  #report = { asked: 0, used: 0, dropped: 0, droppedInputTokens: 0, droppedOutputTokens: 0 }

  constructor(options: PreemptiveGenerationOptions) {
    this.#options = options
  }

  get report(): PreemptiveGenerationReport {
    return this.#report
  }

  /** Sends the request; drops an earlier one, unless it is the same. */
  begin(ref: ModelRef | null, nodeId: string | null, request: GenerationRequest): void {
    const key = keyOf(ref, request)
    if (this.#held?.key === key) return
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
    this.#held = { key, answer: new HeldAnswer(model, request), row }
  }

  /** A model that replays the buffered answer, where the request is the same; null: send the request anew. */
  take(ref: ModelRef | null, request: GenerationRequest): LanguageModel | null {
    const held = this.#held
    if (held === null || held.key !== keyOf(ref, request)) return null
    this.#held = null
    if (held.answer.failed) {
      this.#discard(held.answer)
      this.#settle(held, 'model_failed')
      return null
    }
    this.#report.used++
    // Its use is a row of its own; this one says that it was asked early.
    this.#settle(held, null)
    return held.answer.asModel()
  }

  /** The caller went on speaking: discards the answer. */
  drop(): void {
    const held = this.#held
    if (held === null) return
    this.#held = null
    this.#report.dropped++
    this.#discard(held.answer)
    this.#settle(held, 'cancelled')
  }

  /** Resolves when the ledger has stored all finished requests. */
  async written(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing)
  }

  #discard(answer: HeldAnswer): void {
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

/** The same words of the caller are the same question, whatever marks and capitals the recogniser gives them in the end. */
function keyOf(ref: ModelRef | null, request: GenerationRequest): string {
  const last = request.messages.at(-1)
  if (last?.role !== 'user') return JSON.stringify([ref, request])
  const words = last.content.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return JSON.stringify([ref, { ...request, messages: request.messages.slice(0, -1) }, words])
}

/** An answer that is buffered while it comes in. */
class HeldAnswer {
  readonly #model: LanguageModel
  readonly #controller = new AbortController()
  readonly #events: GenerationEvent[] = []
  #state: 'coming' | 'complete' | 'failed' = 'coming'
  #error: unknown
  #wake: (() => void) | null = null
  #onCost: (usage: Usage) => void = () => {}

  constructor(model: LanguageModel, request: GenerationRequest) {
    this.#model = model
    void this.#listen(request)
  }

  get failed(): boolean {
    return this.#state === 'failed'
  }

  /** Stops the model. `onCost` gets the usage, which some models report only when they are stopped. */
  discard(onCost: (usage: Usage) => void): void {
    const reported = this.#events.find(event => event.type === 'usage')
    if (reported === undefined) this.#onCost = onCost
    else onCost(reported)
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
        if (event.type === 'usage') this.#onCost(event)
        this.#wake?.()
        if (this.#events.length >= MOST_EVENTS) break
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
