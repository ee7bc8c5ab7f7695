import { type HedgeCause, hedge, type Ms, type Time } from '@parley/kernel'
import type { GenerationEvent, LanguageModel } from '@parley/providers'
import type { ModelPace } from './model-pace.ts'

/** Requests that may run at once for one answer. */
const MAX_ATTEMPTS = 3

interface HedgedModelOptions {
  readonly model: LanguageModel
  /** Asked when the model is late and there is no other: the same service. */
  readonly again: () => LanguageModel
  /** Asked in this order when the model is late or has failed. */
  readonly fallbacks: readonly LanguageModel[]
  /** A model without its first event after this time is late; later where the model is slow, up to `latestMs`. */
  readonly lateAfterMs: Ms
  readonly latestMs: Ms
  readonly pace: ModelPace
  /** The answer was requested early, so that its first event says nothing about the pace. */
  readonly isPreemptive: boolean
  readonly time: Time
  /** `lateAfterMs`: when the model was late. */
  readonly onHedge: (other: LanguageModel['identity'], cause: HedgeCause, lateAfterMs: Ms) => void
}

/** The first of several models that answers: another request is sent when the model is late, or to a fallback when it has failed. */
export function hedgedModel(options: HedgedModelOptions): LanguageModel {
  const { model, again, fallbacks, pace, isPreemptive, time, onHedge } = options
  const other = (number: number, cause: HedgeCause): LanguageModel | undefined =>
    fallbacks[number - 1] ?? (cause === 'late' && number < MAX_ATTEMPTS ? again() : undefined)
  return {
    identity: model.identity,
    readiness: () => model.readiness(),
    generate: (request, signal) => {
      let identity = model.identity
      const lateAfterMs = pace.lateAfter(options.lateAfterMs, options.latestMs)
      const requestedAt = time.now()
      const first = (events: AsyncIterable<GenerationEvent>, aborted: AbortSignal) =>
        isPreemptive ? events : noting(events, aborted, () => pace.answered(time.now() - requestedAt))
      return hedge<GenerationEvent>({
        start: (number, cause, aborted) => {
          const next = cause === null ? model : other(number, cause)
          if (next !== undefined) identity = next.identity
          if (next === undefined) return null
          const events = next.generate(request, aborted)
          return number === 0 ? first(events, aborted) : events
        },
        lateAfterMs,
        time,
        signal,
        onHedge: (_number, cause) => {
          if (cause === 'late') pace.hedged()
          onHedge(identity, cause, lateAfterMs)
        },
      })
    },
    close: async () => {},
  }
}

/** The same events; `onFirst` is called with the first, unless another request was faster. */
function noting(
  events: AsyncIterable<GenerationEvent>,
  aborted: AbortSignal,
  onFirst: () => void,
): AsyncIterable<GenerationEvent> {
  const iterator = events[Symbol.asyncIterator]()
  let isFirst = true
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const result = await iterator.next()
        if (isFirst && !aborted.aborted) onFirst()
        isFirst = false
        return result
      },
      return: async value => (await iterator.return?.(value)) ?? { done: true, value: undefined },
    }),
  }
}
