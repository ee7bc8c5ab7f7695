import { type HedgeCause, hedge, type Ms, type Time } from '@parley/kernel'
import type { GenerationEvent, LanguageModel } from '@parley/providers'

/** Requests that may run at once for one answer. */
const MAX_ATTEMPTS = 3

interface HedgedModelOptions {
  readonly model: LanguageModel
  /** Asked when the model is late and there is no other: the same service. */
  readonly again: () => LanguageModel
  /** Asked in this order when the model is late or has failed. */
  readonly fallbacks: readonly LanguageModel[]
  /** A model without its first event after this time is late. */
  readonly lateAfterMs: Ms
  readonly time: Time
  readonly onHedge: (other: LanguageModel['identity'], cause: HedgeCause) => void
}

/** The first of several models that answers: another request is sent when the model is late, or to a fallback when it has failed. */
export function hedgedModel(options: HedgedModelOptions): LanguageModel {
  const { model, again, fallbacks, lateAfterMs, time, onHedge } = options
  const other = (number: number, cause: HedgeCause): LanguageModel | undefined =>
    fallbacks[number - 1] ?? (cause === 'late' && number < MAX_ATTEMPTS ? again() : undefined)
  return {
    identity: model.identity,
    readiness: () => model.readiness(),
    generate: (request, signal) => {
      let identity = model.identity
      return hedge<GenerationEvent>({
        start: (number, cause, aborted) => {
          const next = cause === null ? model : other(number, cause)
          if (next !== undefined) identity = next.identity
          return next?.generate(request, aborted) ?? null
        },
        lateAfterMs,
        time,
        signal,
        onHedge: (_number, cause) => onHedge(identity, cause),
      })
    },
    close: async () => {},
  }
}
