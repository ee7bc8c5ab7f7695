import { z } from 'zod'
import { edgeId, text } from './names.ts'

export const OPERATORS = ['==', '!=', '>', '>=', '<', '<=', 'contains', 'not_contains', 'exists', 'not_exist'] as const

/** `left` is `{{x}}` or bare `x`; `right` is text that may hold `{{y}}`, unused by `exists` and `not_exist`. */
export const equation = z.strictObject({
  left: text(1, 1024),
  operator: z.enum(OPERATORS),
  right: text(0, 1024).optional(),
})

export const promptCondition = z.strictObject({ type: z.literal('prompt'), prompt: text(1, 4096) })

export const equationCondition = z.strictObject({
  type: z.literal('equation'),
  operator: z.enum(['||', '&&']).default('&&'),
  equations: z.array(equation).min(1).max(50),
})

export const transitionCondition = z.discriminatedUnion('type', [promptCondition, equationCondition])

/** A way out of a node. Without a destination it leads nowhere, which a draft may hold and a plan may not. */
export const edge = z.strictObject({
  id: edgeId,
  transition_condition: transitionCondition,
  destination_node_id: text(0, 256).nullable().default(null),
})

/** What brings a global node's caller back to where they were: an edge without destination. */
export const goBackCondition = z.strictObject({
  id: edgeId,
  transition_condition: transitionCondition,
  destination_node_id: z.null().default(null),
})

export const edges = z.array(edge).max(100).default([])
export const edgeSlot = edge.nullable().default(null)

export type Equation = z.output<typeof equation>
export type EquationCondition = z.output<typeof equationCondition>
export type TransitionCondition = z.output<typeof transitionCondition>
export type Edge = z.output<typeof edge>
export type GoBackCondition = z.output<typeof goBackCondition>
