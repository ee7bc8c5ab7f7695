import { nodeTypeOf } from '@parley/nodes'
import { conversingOf } from './conversing.ts'
import { type FlowContext, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import { takeNodeStep } from './node-steps.ts'
import type { Choice } from './protocol.ts'
import { converse } from './speech.ts'
import type { Fallback } from './state.ts'
import { byEquation, edgeChoices, takeFallback, turnChoices, turnFallback } from './transitions.ts'

/**
 * Reacts to a finished turn of the caller or, without a caller, to a speech of the node: tries equations, then lets the model
 * choose, then takes the always, skip-response or else edge. Where no edge can be taken, the node answers.
 */
export function turn(context: FlowContext, here: PlacedNode): Step {
  const moved = byEquation(context, here)
  if (moved !== undefined) return moved
  const choices = turnChoices(context, here)
  const fallback = turnFallback(context, here)
  if (choices.length === 0 && fallback !== null) return otherwise(context, here, fallback)
  const answersItself = conversingOf(here) !== undefined
  // The model only chooses, without speaking, where the node is left in any case or no caller waits for an answer.
  if (choices.length > 0 && (fallback !== null || !context.mode.hasCaller || !answersItself))
    return decide(context, here, choices, fallback)
  if (!context.mode.hasCaller) return context.end('completed', 'agent')
  return answersItself ? converse(context, here, 'user_turn', choices) : stay(context, here)
}

/** Reacts to an action's result in a node that converses: takes an edge whose equation holds now, else the model speaks about the result. */
export function afterResult(context: FlowContext, here: PlacedNode, speaks: boolean): Step {
  const moved = byEquation(context, here)
  if (moved !== undefined) return moved
  if (speaks) return converse(context, here, 'tool_result', turnChoices(context, here))
  context.state.phase = { at: 'conversing', speech: null }
  return context.mode.hasCaller ? WAIT : { next: 'turn' }
}

/** Leaves a node that is done: by an equation, by the model's choice, else by the else edge. Global nodes are not offered: they wait for a turn of the caller. */
export function leave(context: FlowContext, here: PlacedNode): Step {
  const moved = byEquation(context, here)
  if (moved !== undefined) return moved
  const choices = edgeChoices(context, here)
  const fallback = turnFallback(context, here)
  if (choices.length > 0) return decide(context, here, choices, fallback)
  return otherwise(context, here, fallback)
}

function decide(context: FlowContext, here: PlacedNode, choices: readonly Choice[], fallback: Fallback | null): Step {
  const request_id = context.requestId()
  context.emit({ type: 'decide', request_id, node_id: here.address, choices, model: here.node.model_choice })
  context.state.phase = { at: 'deciding', request_id, choices, fallback }
  return WAIT
}

/** No condition held: takes the fallback, else stays. */
export function otherwise(context: FlowContext, here: PlacedNode, fallback: Fallback | null): Step {
  const step = fallback === null ? undefined : takeFallback(context, here, fallback)
  return step ?? stay(context, here)
}

/** No edge can be taken: a task ends; with a caller the node type's `stuck` decides, else the model speaks. */
function stay(context: FlowContext, here: PlacedNode): Step {
  const { node } = here
  if (!context.mode.hasCaller) return context.end('completed', 'agent')
  const step = nodeTypeOf(node).stuck?.(node, context.view)
  return step === undefined ? converse(context, here, 'stuck', []) : takeNodeStep(context, here, step)
}
