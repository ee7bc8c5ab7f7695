import type { Ms } from '@parley/kernel'

/** What a case tries. */
type CaseKind =
  | 'plain'
  | 'keys-while-speaking'
  | 'number-in-groups'
  | 'spelled-name'
  | 'one-word'
  | 'hesitation'
  | 'correction'
  | 'silence'
  | 'barge-in'
  | 'hang-up-in-action'

/** A script as it is written down. A step with `silence_ms` up to 3000 and words continues the turn of the step before it. */
export interface WrittenCase {
  readonly kind: CaseKind
  readonly name: string
  readonly steps: readonly object[]
  /** Delay of the agent’s actions; default 100. */
  readonly actionMs?: Ms
  /** The caller is silent on purpose, so that the agent says its sentences again. */
  readonly mayRepeat?: boolean
}
