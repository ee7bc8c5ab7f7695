import { slottedEdges } from '@parley/nodes'
import { type FlowContext, type Step, WAIT } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'

const TRANSFER = 'transfer_call'

/** Takes a transfer because the caller is not understood: one that an edge of the node leads to, else a global one. */
export function escalate(context: FlowContext, here: PlacedNode): Step {
  const next = slottedEdges(here.node).flatMap(({ edge }) => {
    const to = context.graph.destination(here, edge)
    return to === undefined ? [] : [{ to, edgeId: edge.id, cause: 'edge' as const }]
  })
  const globals = context.graph.globals(here.scope).map(to => ({ to, edgeId: null, cause: 'global' as const }))
  const found = [...next, ...globals].find(({ to }) => to.node.type === TRANSFER)
  if (found === undefined) return WAIT
  return { next: 'enter', ...found, calls: context.calls(), detours: context.state.detours, isReturn: false }
}
