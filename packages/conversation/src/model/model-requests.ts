import type { ModelRef } from '@parley/flow'
import { type Ms, ParleyError, type Time } from '@parley/kernel'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import type { EffectLedger } from '../ledger.ts'
import type { TimelineFact } from '../timeline.ts'
import { type AnswerEnd, readAnswer } from './answer.ts'
import { hedgedModel } from './hedged-model.ts'
import { InferenceRow } from './inference-row.ts'
import type { ModelPace } from './model-pace.ts'
import type { PreemptiveGeneration } from './preemptive-generation.ts'

/** A slow model gets at most this many times the usual wait before a second request is sent. */
const LATEST = 2.5
/** Pause before the second attempt, where the service sends no Retry-After. */
const RETRY_AFTER_MS: Ms = 250

interface ModelRequestOptions {
  readonly models: (ref: ModelRef | null) => LanguageModel
  /** How fast the model of a request answers. May throw as `models`. */
  readonly paces: (ref: ModelRef | null) => ModelPace
  readonly ledger: EffectLedger
  readonly preemptive: PreemptiveGeneration
  readonly time: Time
  /** Maximum wait for the first event and between two events. */
  readonly eventMs: Ms
  /** A model without a first event after this time is late; null: no other is asked. */
  readonly lateAfterMs: Ms | null
  /** Models that are asked when the model of a request is late or has failed. */
  readonly fallbacks: readonly LanguageModel[]
  readonly onFact: (fact: TimelineFact) => void
}

export interface ModelRequest {
  readonly model: ModelRef | null
  /** Null: the request belongs to no node. */
  readonly nodeId: string | null
  readonly request: GenerationRequest
  /** When the answer must be complete, including a second attempt, on the conversation's clock. */
  readonly deadline: Ms
  readonly signal: AbortSignal
  readonly onEvent: (event: GenerationEvent) => Ms | undefined
}

/** Sends model requests. A request that failed with a retryable error is sent once more, unless part of the first answer was used. */
export class ModelRequests {
  readonly #options: ModelRequestOptions
  readonly #written = new Set<Promise<void>>()

  constructor(options: ModelRequestOptions) {
    this.#options = options
  }

  /** Never rejects. */
  async ask(ask: ModelRequest): Promise<AnswerEnd> {
    const row = new InferenceRow(this.#options.ledger, ask.nodeId)
    let isUsed = false
    const onEvent = (event: GenerationEvent) => {
      isUsed ||= event.type === 'text' || event.type === 'speech' || event.type === 'tool-call'
      return ask.onEvent(event)
    }
    let end = await this.#send(row, ask, onEvent)
    if (
      end.type === 'failed' &&
      end.retryable &&
      !isUsed &&
      (await this.#pause(end.retryAfterMs ?? RETRY_AFTER_MS, ask))
    )
      end = await this.#send(row, ask, onEvent)
    const written = row.settle(end.type === 'failed' ? end.code : end.type === 'aborted' ? 'cancelled' : null)
    this.#written.add(written)
    void written.then(() => this.#written.delete(written))
    return end
  }

  /** Resolves when the ledger has stored all finished requests. */
  async written(): Promise<void> {
    while (this.#written.size > 0) await Promise.all(this.#written)
  }

  async #send(row: InferenceRow, ask: ModelRequest, onEvent: ModelRequest['onEvent']): Promise<AnswerEnd> {
    const { models, preemptive, time, eventMs } = this.#options
    let model: LanguageModel
    try {
      const early = preemptive.take(ask.model, ask.request)
      model = this.#hedged(early ?? models(ask.model), ask, early !== null)
    } catch (error) {
      const code = error instanceof ParleyError ? error.code : 'model_not_ready'
      return {
        type: 'failed',
        code,
        message: 'The model is not available: choose one that GET /models lists as ready.',
        retryable: false,
        retryAfterMs: null,
      }
    }
    row.sending()
    const { request, deadline, signal } = ask
    return readAnswer({ model, request, time, eventMs, deadline, signal, onEvent })
  }

  /** The model, helped by the others when it is late. A preemptive answer is helped by the model itself. */
  #hedged(model: LanguageModel, { model: ref }: ModelRequest, isPreemptive: boolean): LanguageModel {
    const { models, paces, fallbacks, lateAfterMs, time, onFact } = this.#options
    if (lateAfterMs === null) return model
    return hedgedModel({
      model,
      again: () => models(ref),
      fallbacks,
      lateAfterMs,
      latestMs: lateAfterMs * LATEST,
      pace: paces(ref),
      isPreemptive,
      time,
      onHedge: ({ provider, model: name }, cause, afterMs) => {
        const why = cause === 'late' ? `sent nothing within ${Math.round(afterMs)} ms` : 'failed'
        const code = cause === 'late' ? 'model_late' : 'model_failed'
        onFact({ kind: 'error', code, message: `The model ${why}, so ${provider}/${name} was asked as well.` })
      },
    })
  }

  /** Waits before a retry. False: the request was aborted, or the wait would exceed the deadline or the time allowed for an event. */
  #pause(waitMs: Ms, { deadline, signal }: ModelRequest): Promise<boolean> {
    const { time, eventMs } = this.#options
    if (signal.aborted || waitMs > eventMs || time.now() + waitMs >= deadline) return Promise.resolve(false)
    return new Promise(resolve => {
      const timer = time.at(time.now() + waitMs, () => {
        signal.removeEventListener('abort', abort)
        resolve(true)
      })
      const abort = () => {
        timer.cancel()
        resolve(false)
      }
      signal.addEventListener('abort', abort, { once: true })
    })
  }
}
