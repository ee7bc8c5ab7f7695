import type { Ms } from '@parley/kernel'
import type { LanguageModel } from '@parley/providers'

/** First events that are remembered, and from how many on they are used. */
const SAMPLES = 50
const LEARNT_FROM = 10
/** A model is late after the time within which it usually answers. */
const USUAL_SHARE = 0.95
/** Further requests that each request earns, those that may be sent at first, and the most that are saved up. */
const EARNED = 0.08
const FIRST_CREDIT = 1
const MAX_CREDIT = 3

/**
 * How fast one model answers, in all calls of this process, and how many further requests it may cost: at most 8 in 100 in the long
 * run, so that a model that is always slow is not asked twice in every turn.
 */
export class ModelPace {
  readonly #firstEvents: Ms[] = []
  #credit = FIRST_CREDIT

  /** When a request is late: `soonestMs`, or later where the model usually takes longer; `latestMs` while no further request is earned. */
  lateAfter(soonestMs: Ms, latestMs: Ms): Ms {
    this.#credit = Math.min(MAX_CREDIT, this.#credit + EARNED)
    if (this.#credit < 1) return latestMs
    return Math.min(latestMs, Math.max(soonestMs, this.#usualMs()))
  }

  /** Another request was sent because one was late. */
  hedged(): void {
    this.#credit--
  }

  /** A first request was answered after `ms`, before any other. */
  answered(ms: Ms): void {
    this.#firstEvents.push(ms)
    if (this.#firstEvents.length > SAMPLES) this.#firstEvents.shift()
  }

  #usualMs(): Ms {
    const sorted = this.#firstEvents.toSorted((a, b) => a - b)
    return sorted.length < LEARNT_FROM ? 0 : sorted[Math.ceil(USUAL_SHARE * sorted.length) - 1]!
  }
}

const PACES = new WeakMap<LanguageModel, ModelPace>()

/** The pace of a model, which all calls that use it share. */
export function paceOf(model: LanguageModel): ModelPace {
  const known = PACES.get(model)
  if (known !== undefined) return known
  const pace = new ModelPace()
  PACES.set(model, pace)
  return pace
}
