import type { Ms } from '@parley/kernel'

/** What a simulated caller does next in a text conversation. */
export type CallerMove =
  | {
      readonly type: 'turn'
      readonly text: string | null
      readonly digits: string | null
      /** Steps of the script (from 1) that the turn consists of; empty: no script. */
      readonly steps: readonly number[]
    }
  /** The caller says nothing for this long. */
  | { readonly type: 'silence'; readonly ms: Ms }
  | { readonly type: 'hang-up' }

/** What the caller has heard since its last move. */
export interface HeardByCaller {
  readonly agentTexts: readonly string[]
}

/** A simulated caller of a text conversation. It is asked for its next move whenever the agent waits for it. */
export interface TextCaller {
  /** May reject with a `ParleyError` when the model of a persona fails. */
  next(heard: HeardByCaller, signal: AbortSignal): Promise<CallerMove>
}
