import { ABORTED, type Ms, ParleyError, type Time, type Timer } from '@parley/kernel'
import { type GenerationEvent, type GenerationRequest, type LanguageModel, retryAfterMs } from '@parley/providers'
import { ConversationError } from '../errors.ts'

/** Maximum events of one answer: a model that streams without pause would otherwise block the event loop. */
const MAX_EVENTS = 20_000

interface AnswerOptions {
  readonly model: LanguageModel
  readonly request: GenerationRequest
  readonly time: Time
  /** Maximum wait for the first event and between two events. */
  readonly eventMs: Ms
  /** When the answer must be complete, on the clock `time`. */
  readonly deadline: Ms
  readonly signal: AbortSignal
  /** Returns for how many more ms to read at most; undefined: to the end. */
  readonly onEvent: (event: GenerationEvent) => Ms | undefined
}

export type AnswerEnd =
  | { readonly type: 'finished'; readonly reason: Extract<GenerationEvent, { type: 'finished' }>['reason'] }
  /** `onEvent` limited the reading and the limit was reached. */
  | { readonly type: 'enough' }
  | { readonly type: 'aborted' }
  | {
      readonly type: 'failed'
      readonly code: string
      readonly message: string
      readonly retryable: boolean
      /** The service's Retry-After; null when it sent none. */
      readonly retryAfterMs: Ms | null
    }

/** Not retryable: the caller has already waited for the whole time limit. */
const TIMED_OUT: AnswerEnd = {
  type: 'failed',
  code: 'model_timeout',
  message: 'The model did not answer within its time limit.',
  retryable: false,
  retryAfterMs: null,
}

type Next =
  | { readonly type: 'next'; readonly result: IteratorResult<GenerationEvent> }
  | { readonly type: 'broken'; readonly error: unknown }
  | { readonly type: 'stop'; readonly end: AnswerEnd }

/**
 * Reads one answer of a model, whatever the model does: it may stall, never end, throw, or take no notice of an abort.
 * Ends by `deadline` at the latest; never rejects.
 */
export async function readAnswer(options: AnswerOptions): Promise<AnswerEnd> {
  const reader = new AnswerReader(options)
  try {
    return await reader.read()
  } finally {
    reader.close()
  }
}

class AnswerReader {
  readonly #options: AnswerOptions
  readonly #controller = new AbortController()
  #iterator: AsyncIterator<GenerationEvent> | undefined
  #timer: Timer | undefined
  /** When the limit that `onEvent` returned is reached. */
  #enoughAt: Ms = Number.POSITIVE_INFINITY
  #end: AnswerEnd | undefined
  #wake: (() => void) | undefined
  readonly #onAbort = () => this.#stop({ type: 'aborted' })

  constructor(options: AnswerOptions) {
    this.#options = options
  }

  async read(): Promise<AnswerEnd> {
    const { signal, model, request } = this.#options
    if (signal.aborted) return { type: 'aborted' }
    signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#restartTimer()
    try {
      this.#iterator = model.generate(request, this.#controller.signal)[Symbol.asyncIterator]()
    } catch (error) {
      return failureOf(error)
    }
    for (let events = 0; ; events++) {
      if (events >= MAX_EVENTS)
        return failureOf(
          new ConversationError('model_failed', `The model sent more than ${MAX_EVENTS} events in one answer.`, {
            retryable: false,
          }),
        )
      const next = await this.#next(this.#iterator)
      if (next.type === 'stop') return next.end
      if (next.type === 'broken') return failureOf(next.error)
      if (next.result.done) return { type: 'finished', reason: 'stop' }
      this.#restartTimer()
      const event = next.result.value
      if (event.type === 'finished') return { type: 'finished', reason: event.reason }
      const rest = this.#options.onEvent(event)
      if (rest === 0) return { type: 'enough' }
      if (rest !== undefined) this.#readFor(rest)
    }
  }

  /** Aborts the model and ignores whatever it still emits or throws. */
  close(): void {
    this.#timer?.cancel()
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#controller.abort(ABORTED)
    try {
      this.#iterator?.return?.()?.then(undefined, () => {})
    } catch {
      // An iterator that cannot be closed needs no further handling.
    }
  }

  #next(iterator: AsyncIterator<GenerationEvent>): Promise<Next> {
    return new Promise(resolve => {
      if (this.#end !== undefined) {
        resolve({ type: 'stop', end: this.#end })
        return
      }
      this.#wake = () => resolve({ type: 'stop', end: this.#end! })
      iterator.next().then(
        // An event that arrives together with the abort is dropped.
        result => resolve(this.#end === undefined ? { type: 'next', result } : { type: 'stop', end: this.#end }),
        error => resolve(this.#end === undefined ? { type: 'broken', error } : { type: 'stop', end: this.#end }),
      )
    })
  }

  #readFor(ms: Ms): void {
    this.#enoughAt = Math.min(this.#enoughAt, this.#options.time.now() + ms)
    this.#restartTimer()
  }

  #restartTimer(): void {
    const { time, eventMs, deadline } = this.#options
    const timeoutAt = Math.min(time.now() + eventMs, deadline)
    this.#timer?.cancel()
    this.#timer =
      this.#enoughAt < timeoutAt
        ? time.at(this.#enoughAt, () => this.#stop({ type: 'enough' }))
        : time.at(timeoutAt, () => this.#stop(TIMED_OUT))
  }

  #stop(end: AnswerEnd): void {
    this.#end ??= end
    this.#wake?.()
  }
}

/** Texts of foreign errors may contain secrets and are not recorded. */
function failureOf(error: unknown): AnswerEnd {
  if (error instanceof ParleyError) {
    const { code, message, retryable } = error
    return { type: 'failed', code, message, retryable, retryAfterMs: retryAfterMs(error) }
  }
  return { type: 'failed', code: 'model_failed', message: 'The model failed.', retryable: false, retryAfterMs: null }
}
