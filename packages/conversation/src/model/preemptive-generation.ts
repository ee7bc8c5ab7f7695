import type { ModelRef } from '@parley/flow'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import type { EffectLedger } from '../ledger.ts'
import { InferenceRow } from './inference-row.ts'

/** More of an answer is not held: nobody says so much before it is known whether the caller has finished. */
const MOST_EVENTS = 4000

/** What asking early has cost and brought. Tokens are those that the models reported for answers nobody used. */
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

interface Held {
  readonly key: string
  readonly answer: HeldAnswer
  readonly row: InferenceRow
}

/**
 * Asks a model before it is certain that the caller has finished, and holds the answer. Whoever then asks the very same
 * gets it, as far as it has come; otherwise it is thrown away. One at a time.
 */
export class PreemptiveGeneration {
  readonly #options: PreemptiveGenerationOptions
  readonly #writing = new Set<Promise<void>>()
  #held: Held | null = null
  #report = { asked: 0, used: 0, dropped: 0, droppedInputTokens: 0, droppedOutputTokens: 0 }

  constructor(options: PreemptiveGenerationOptions) {
    this.#options = options
  }

  get report(): PreemptiveGenerationReport {
    return this.#report
  }

  /** Asks; what was held before is dropped, unless it is the same. */
  begin(ref: ModelRef | null, nodeId: string | null, request: GenerationRequest): void {
    const key = keyOf(ref, request)
    if (this.#held?.key === key) return
    this.drop()
    let model: LanguageModel
    try {
      model = this.#options.models(ref)
    } catch {
      // Whoever asks in earnest is told.
      return
    }
    this.#report.asked++
    const row = new InferenceRow(this.#options.ledger, nodeId)
    row.sending()
    this.#held = { key, answer: new HeldAnswer(model, request), row }
  }

  /** The model with the held answer in its mouth, where this is what it was asked; null: ask it anew. */
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

  /** The caller went on: what is held is of no use. */
  drop(): void {
    const held = this.#held
    if (held === null) return
    this.#held = null
    this.#report.dropped++
    this.#discard(held.answer)
    this.#settle(held, 'cancelled')
  }

  /** Until the ledger has the rows of all that ended. */
  async written(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing)
  }

  #discard(answer: HeldAnswer): void {
    answer.discard(({ inputTokens, outputTokens }) => {
      this.#report.droppedInputTokens += inputTokens
      this.#report.droppedOutputTokens += outputTokens
    })
  }

  #settle({ row }: Held, errorCode: string | null): void {
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

/** An answer that comes in while nobody reads it yet. */
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

  /** Nobody wants it. `onCost`: what the model says that it cost, which some say only when they are stopped. */
  discard(onCost: (usage: Usage) => void): void {
    const told = this.#events.find(event => event.type === 'usage')
    if (told === undefined) this.#onCost = onCost
    else onCost(told)
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
