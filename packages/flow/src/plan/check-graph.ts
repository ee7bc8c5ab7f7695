import { type Edge, type EdgeSlot, edgeIn, type FlowNode, nodeTypeOf, slottedEdges } from '@parley/nodes'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import { addFirstNode, connectToEnd, removeEdge, removeNode } from './fixes.ts'
import type { Component } from './flow.ts'
import { type Path, type Scope, scopesOf } from './scope.ts'

/** Checks ids, start nodes, edges and reachability. */
export function checkGraph(draft: DraftContent, findings: Findings): void {
  const scopes = scopesOf(draft)
  checkComponentIds(draft, findings)
  for (const scope of scopes) {
    checkIds(scope, findings)
    checkStart(scope, findings)
    for (const [index, node] of scope.nodes.entries())
      checkEdges(scope, node, [...scope.path, 'nodes', index], findings)
    checkReachable(scope, draft.flow.flex_mode === true, findings)
  }
  checkCalls(draft, scopes, findings)
}

function checkComponentIds({ flow }: DraftContent, findings: Findings): void {
  for (const { index, id, isLast } of repeated(flow.components.map(component => component.component_id)))
    findings.error(
      'duplicate_id',
      ['flow', 'components', index, 'component_id'],
      `Another component has the id "${id}": give one of the two another id`,
      isLast ? { label: 'Remove this one', edits: [{ type: 'flow.component.remove', component_id: id }] } : undefined,
    )
}

function checkIds(scope: Scope, findings: Findings): void {
  for (const { index, id, isLast } of repeated(scope.nodes.map(node => node.id)))
    findings.error(
      'duplicate_id',
      [...scope.path, 'nodes', index, 'id'],
      `Another node has the id "${id}": give one of the two another id`,
      isLast && scope.isAddressable
        ? {
            label: 'Remove this one',
            edits: [{ type: 'flow.node.remove', component_id: scope.componentId, node_id: id }],
          }
        : undefined,
    )
}

/** Ids that occurred before; `isLast` where none of them follows: an edit that removes an id removes its last owner. */
function repeated(ids: readonly string[]): { index: number; id: string; isLast: boolean }[] {
  const seen = new Set<string>()
  const last = new Map(ids.map((id, index) => [id, index]))
  return ids.flatMap((id, index) => {
    if (seen.has(id)) return [{ index, id, isLast: last.get(id) === index }]
    seen.add(id)
    return []
  })
}

function checkStart(scope: Scope, findings: Findings): void {
  const path = [...scope.path, 'start_node_id']
  const first = scope.nodes[0]
  if (first === undefined) {
    const message = 'The flow or component has no nodes: add a conversation node to start with'
    findings.error('flow_empty', [...scope.path, 'nodes'], message, addFirstNode(scope))
    return
  }
  if (scope.startNodeId !== null && scope.ids.has(scope.startNodeId)) return
  const found =
    scope.startNodeId === null ? 'No start node is set' : `The start node "${scope.startNodeId}" does not exist`
  findings.error(
    'start_node_missing',
    path,
    `${found}: set start_node_id to one of the nodes`,
    scope.isAddressable
      ? {
          label: `Start with "${first.name || first.id}"`,
          edits: [{ type: 'flow.start', component_id: scope.componentId, node_id: first.id }],
        }
      : undefined,
  )
}

function checkEdges(scope: Scope, node: FlowNode, path: Path, findings: Findings): void {
  const edges = slottedEdges(node)
  checkEdgeIds(scope, node, path, findings)
  let index = 0
  for (const { slot, edge } of edges) {
    const at = slot === 'edges' ? [...path, slot, index++] : [...path, slot]
    checkDestination(scope, node, slot, edge, [...at, 'destination_node_id'], findings)
  }
}

function checkEdgeIds(scope: Scope, node: FlowNode, path: Path, findings: Findings): void {
  const edges = slottedEdges(node)
  for (const { index, id, isLast } of repeated(edges.map(({ edge }) => edge.id))) {
    const { slot } = edges[index]!
    findings.error(
      'duplicate_id',
      slot === 'edges' ? [...path, slot, index, 'id'] : [...path, slot, 'id'],
      `Another edge of "${node.id}" has the id "${id}": give one of the two another id`,
      isLast && scope.isAddressable && !scope.duplicateIds.has(node.id)
        ? {
            label: 'Remove this one',
            edits: [{ type: 'flow.edge.remove', component_id: scope.componentId, node_id: node.id, edge_id: id }],
          }
        : undefined,
    )
  }
}

function checkDestination(
  scope: Scope,
  node: FlowNode,
  slot: EdgeSlot,
  edge: Edge,
  path: Path,
  findings: Findings,
): void {
  const to = edge.destination_node_id
  if (to !== null && scope.ids.has(to)) return
  const fixes = [removeEdge(scope, node, edge), connectToEnd(scope, node, slot, edge)]
  if (to === null)
    findings.warning(
      'edge_dangling',
      path,
      `The edge "${edge.id}" of "${node.id}" has no destination, so it is never taken${otherwise(node, slot)}: connect or remove it`,
      ...fixes,
    )
  else
    findings.warning(
      'node_unknown',
      path,
      `The edge "${edge.id}" of "${node.id}" leads to the node "${to}", which does not exist, so it is never taken${otherwise(node, slot)}: connect it to another node or remove it`,
      ...fixes,
    )
}

/** What happens where the conversation would take an edge that leads nowhere. */
function otherwise(node: FlowNode, slot: EdgeSlot): string {
  const elseEdge = edgeIn(node, 'else_edge')
  return slot !== 'else_edge' && elseEdge?.destination_node_id != null
    ? ' and the else edge is taken where no other condition holds'
    : ''
}

/** Warns of nodes that cannot be reached by an edge or a global node, and of flows that cannot reach an end. */
function checkReachable(scope: Scope, isFlex: boolean, findings: Findings): void {
  const byId = new Map(scope.nodes.map(node => [node.id, node]))
  const start = scope.startNodeId === null ? undefined : byId.get(scope.startNodeId)
  if (start === undefined) return
  const open = [start, ...scope.nodes.filter(node => isFreelyEntered(node, isFlex))]
  const reached = new Set<FlowNode>(open)
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (const { edge } of slottedEdges(node)) {
      const to = edge.destination_node_id === null ? undefined : byId.get(edge.destination_node_id)
      if (to === undefined || reached.has(to)) continue
      reached.add(to)
      open.push(to)
    }
  for (const [index, node] of scope.nodes.entries())
    if (!reached.has(node) && byId.get(node.id) === node)
      findings.warning(
        'node_unreachable',
        [...scope.path, 'nodes', index],
        `No edge leads to "${node.id}": connect one to it, make it global, or remove it`,
        removeNode(scope, node),
      )
  if (![...reached].some(node => nodeTypeOf(node).isEnding === true))
    findings.warning(
      'end_unreachable',
      [...scope.path, 'nodes'],
      'No end node can be reached, so the conversation ends only when the other side hangs up, stays silent or exceeds the time limit: connect an end node',
    )
}

/** Whether the conversation may enter the node without an edge: global nodes, and in flex mode every node that converses. */
function isFreelyEntered(node: FlowNode, isFlex: boolean): boolean {
  return node.global_node_setting !== null || (isFlex && nodeTypeOf(node).conversing !== undefined)
}

/** Reports unknown components and components that contain themselves. */
function checkCalls({ flow }: DraftContent, scopes: readonly Scope[], findings: Findings): void {
  const within = componentsWithin(flow.components)
  for (const scope of scopes)
    for (const [index, node] of scope.nodes.entries()) {
      const id = componentOf(node)
      if (id === undefined) continue
      const path = [...scope.path, 'nodes', index, 'component_id']
      const isShared = node.type === 'component' && node.component_type === 'shared'
      if (!within.has(id)) {
        // The node's own check warns of a shared component that the flow has no copy of.
        if (isShared) continue
        findings.error(
          'component_unknown',
          path,
          `The node "${node.id}" runs the component "${id}", which does not exist: add it to the flow, or set another component_id`,
          removeNode(scope, node),
        )
      } else if (scope.componentId !== null && (id === scope.componentId || within.get(id)!.has(scope.componentId)))
        findings.error(
          'component_recursive',
          path,
          `The node "${node.id}" would run the component "${scope.componentId}" inside itself: use edges to repeat steps`,
          removeNode(scope, node),
        )
    }
}

/** For each component, all components that it contains, at any depth. */
function componentsWithin(components: readonly Component[]): ReadonlyMap<string, ReadonlySet<string>> {
  const direct = new Map(components.map(({ component_id: id }) => [id, new Set<string>()]))
  for (const { component_id: id, nodes } of components)
    for (const node of nodes) {
      const inner = componentOf(node)
      if (inner !== undefined && direct.has(inner)) direct.get(id)!.add(inner)
    }
  return new Map(components.map(({ component_id: id }) => [id, reachedFrom(id, direct)]))
}

function reachedFrom(from: string, direct: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [from]
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const inner of direct.get(id)!)
      if (!reached.has(inner)) {
        reached.add(inner)
        open.push(inner)
      }
  return reached
}

function componentOf(node: FlowNode): string | undefined {
  return nodeTypeOf(node).componentId?.(node)
}
