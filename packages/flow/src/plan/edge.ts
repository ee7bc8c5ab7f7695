import type { edge, goBackCondition, slot, transitionCondition } from '@parley/contract'
import type { z } from 'zod'

export type TransitionCondition = z.output<typeof transitionCondition>
export type EquationCondition = Extract<TransitionCondition, { type: 'equation' }>
/** `left` is `{{x}}` or bare `x`; `right` is text that may hold `{{y}}`, unused by `exists` and `not_exist`. */
export type Equation = EquationCondition['equations'][number]
/** A way out of a node. Without a destination it leads nowhere, which a draft may hold and a plan may not. */
export type Edge = z.output<typeof edge>
/** What brings a global node's caller back to where they were: an edge without destination. */
export type GoBackCondition = z.output<typeof goBackCondition>
/** Where on its node an edge stands: in the list, or in one of the single places. */
export type EdgeSlot = z.output<typeof slot>
