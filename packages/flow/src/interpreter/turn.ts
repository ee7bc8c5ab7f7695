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
 * The caller has finished (or, without a caller, the node has spoken): equations first, then what the model chooses
 * among, then always, skip-response and else edges. Where nothing leads on, the node answers.
 */
export function turn(context: FlowContext, here: PlacedNode): Step {
  const moved = byEquation(context, here)
  if (moved !== undefined) return moved
  const choices = turnChoices(context, here)
  const fallback = turnFallback(context, here)
  if (choices.length === 0 && fallback !== null) return otherwise(context, here, fallback)
  const answersItself = conversingOf(here) !== undefined
  // A node with a fallback is left where no choice is made, and without a caller nobody waits for an answer: choose, speak not.
  if (choices.length > 0 && (fallback !== null || !context.mode.hasCaller || !answersItself))
    return decide(context, here, choices, fallback)
  if (!context.mode.hasCaller) return context.end('completed', 'agent')
  return answersItself ? converse(context, here, 'user_turn', choices) : stay(context, here)
}

/** An action's result in a node that converses: equations may move on from it, else the model speaks about it. */
export function afterResult(context: FlowContext, here: PlacedNode, speaks: boolean): Step {
  const moved = byEquation(context, here)
  if (moved !== undefined) return moved
  if (speaks) return converse(context, here, 'tool_result', turnChoices(context, here))
  context.state.phase = { at: 'conversing', speech: null }
  return context.mode.hasCaller ? WAIT : { next: 'turn' }
}

/** A node that is done by itself: equations, the model's choice, else. Global nodes wait for a turn of the caller. */
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

/** No condition held. */
export function otherwise(context: FlowContext, here: PlacedNode, fallback: Fallback | null): Step {
  const step = fallback === null ? undefined : takeFallback(context, here, fallback)
  return step ?? stay(context, here)
}

/** No edge leads on: a task is done; with a caller the node says what it does, else the model speaks. */
function stay(context: FlowContext, here: PlacedNode): Step {
  const { node } = here
  if (!context.mode.hasCaller) return context.end('completed', 'agent')
  const step = nodeTypeOf(node).stuck?.(node, context.view)
  return step === undefined ? converse(context, here, 'stuck', []) : takeNodeStep(context, here, step)
}
