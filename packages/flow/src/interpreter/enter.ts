import { LEAVE_NODE, nodeTypeOf } from '@parley/nodes'
import { collectDigits, conversingOf, resumeConversing, turnSettings } from './conversing.ts'
import type { FlowContext, Step } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import { takeNodeStep } from './node-steps.ts'

/** Enters a node, and starts or resumes it. */
export function enter(context: FlowContext, step: Step & { next: 'enter' }): Step {
  const { state } = context
  const from = state.position?.node ?? null
  state.previous = from
  state.position = { node: step.to.address, calls: step.calls }
  state.detours = step.detours
  state.speechDuring = null
  if (step.cause === 'global') state.globalEntries[step.to.address] = state.turn
  context.emit({
    type: 'node',
    node_id: step.to.address,
    from_node_id: from,
    edge_id: step.edgeId,
    cause: step.cause,
    settings: turnSettings(context, step.to),
  })
  return step.isReturn ? resume(context, step.to) : begin(context, step.to)
}

/** Tells that the conversation is in the node again, as if it had not been left. */
export function comeBack(context: FlowContext, here: PlacedNode, from: string | null): void {
  context.emit({
    type: 'node',
    node_id: here.address,
    from_node_id: from,
    edge_id: null,
    cause: 'return',
    settings: turnSettings(context, here),
  })
  if (conversingOf(here) !== undefined) collectDigits(context, here)
}

function begin(context: FlowContext, here: PlacedNode): Step {
  const { node } = here
  return takeNodeStep(context, here, nodeTypeOf(node).enter?.(node, context.view) ?? LEAVE_NODE)
}

/** Resumes a node that a global node or a component interrupted. Its actions do not run again. */
function resume(context: FlowContext, here: PlacedNode): Step {
  const { node } = here
  if (conversingOf(here) !== undefined) return resumeConversing(context, here)
  return takeNodeStep(context, here, nodeTypeOf(node).resume?.(node, context.view) ?? LEAVE_NODE)
}
