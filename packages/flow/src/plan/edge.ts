import type { equation, goBackCondition, transitionCondition } from '@parley/nodes'
import type { z } from 'zod'

type TransitionCondition = z.output<typeof transitionCondition>
export type EquationCondition = Extract<TransitionCondition, { type: 'equation' }>
/** `left` is `{{x}}` or bare `x`; `right` is text that may hold `{{y}}`, unused by `exists` and `not_exist`. */
export type Equation = z.output<typeof equation>
/** A condition that returns from a global node to the position it interrupted: an edge without a destination. */
export type GoBackCondition = z.output<typeof goBackCondition>
