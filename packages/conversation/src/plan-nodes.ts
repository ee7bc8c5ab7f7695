import type { FlowNode, Plan } from '@parley/flow'

/** A plan's nodes by the address that they have outside it: `node_id`, inside a component `component_id/node_id`. */
export function nodesOf({ flow }: Plan): ReadonlyMap<string, FlowNode> {
  const nodes = new Map<string, FlowNode>()
  for (const node of flow.nodes) nodes.set(node.id, node)
  for (const { component_id, nodes: inside } of flow.components)
    for (const node of inside) nodes.set(`${component_id}/${node.id}`, node)
  return nodes
}
