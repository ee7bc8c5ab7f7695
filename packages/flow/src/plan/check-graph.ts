import type { DraftContent } from './draft.ts'
import type { Edge } from './edge.ts'
import { type Findings, leadToEnd, removeEdge, type Scope, scopesOf } from './findings.ts'
import type { FlowNode } from './node.ts'
import { slottedEdges } from './node-edges.ts'

/** Ids, starts, edges, and what can be reached. */
export function checkGraph(draft: DraftContent, findings: Findings): void {
  const scopes = scopesOf(draft)
  checkComponentIds(draft, findings)
  for (const scope of scopes) {
    checkIds(scope, findings)
    checkStart(scope, findings)
    for (const [index, node] of scope.nodes.entries())
      checkEdges(scope, node, [...scope.path, 'nodes', index], findings)
    checkReachable(scope, findings)
  }
  checkCalls(draft, scopes, findings)
}

function checkComponentIds({ flow }: DraftContent, findings: Findings): void {
  for (const index of repeated(flow.components.map(component => component.component_id)))
    findings.error(
      'duplicate_id',
      ['flow', 'components', index, 'component_id'],
      `A component "${flow.components[index]!.component_id}" stands above: give one of the two another id`,
    )
}

function checkIds(scope: Scope, findings: Findings): void {
  for (const index of repeated(scope.nodes.map(node => node.id)))
    findings.error(
      'duplicate_id',
      [...scope.path, 'nodes', index, 'id'],
      `A node "${scope.nodes[index]!.id}" stands above: give one of the two another id`,
    )
}

/** Indexes of what stood before. */
function repeated(ids: readonly string[]): number[] {
  const seen = new Set<string>()
  return ids.flatMap((id, index) => {
    if (seen.has(id)) return [index]
    seen.add(id)
    return []
  })
}

function checkStart(scope: Scope, findings: Findings): void {
  const path = [...scope.path, 'start_node_id']
  const first = scope.nodes[0]
  if (first === undefined) {
    findings.error('flow_empty', [...scope.path, 'nodes'], 'There is no node: add a conversation node to begin with')
    return
  }
  if (scope.nodes.some(node => node.id === scope.startNodeId)) return
  const found =
    scope.startNodeId === null ? 'No start node is set' : `There is no node "${scope.startNodeId}" to start with`
  findings.error('start_node_missing', path, `${found}: name one of the nodes`, {
    label: `Start with "${first.name || first.id}"`,
    edits: [{ type: 'flow.start', component_id: scope.componentId, node_id: first.id }],
  })
}

function checkEdges(scope: Scope, node: FlowNode, path: readonly (string | number)[], findings: Findings): void {
  const ids = new Set<string>()
  let index = 0
  for (const { slot, edge } of slottedEdges(node)) {
    const at = slot === 'edges' ? [...path, slot, index++] : [...path, slot]
    if (ids.has(edge.id)) findings.error('duplicate_id', [...at, 'id'], `Another edge of "${node.id}" is "${edge.id}"`)
    ids.add(edge.id)
    checkDestination(scope, node, edge, [...at, 'destination_node_id'], findings)
  }
  if (node.type === 'branch' && node.else_edge === null)
    findings.error(
      'else_edge_missing',
      [...path, 'else_edge'],
      `The branch "${node.id}" says nothing for when no equation holds: add an else edge`,
      leadToEnd(scope, node, 'else_edge', freshId(ids, 'else'), 'Else'),
    )
  if (node.type === 'transfer_call' && node.edge === null)
    findings.error(
      'edge_dangling',
      [...path, 'edge'],
      `The transfer "${node.id}" says nothing for when it fails: add its failure edge`,
      leadToEnd(scope, node, 'edge', freshId(ids, 'failed'), 'Transfer failed'),
    )
}

function freshId(taken: ReadonlySet<string>, wanted: string): string {
  let id = wanted
  for (let n = 2; taken.has(id); n++) id = `${wanted}-${n}`
  return id
}

function checkDestination(
  scope: Scope,
  node: FlowNode,
  edge: Edge,
  path: readonly (string | number)[],
  findings: Findings,
): void {
  const to = edge.destination_node_id
  const remove = removeEdge(scope, node, edge.id)
  if (to === null)
    findings.error(
      'edge_dangling',
      path,
      `The edge "${edge.id}" of "${node.id}" leads nowhere: connect or remove it`,
      remove,
    )
  else if (!scope.nodes.some(candidate => candidate.id === to))
    findings.error('node_unknown', path, `There is no node "${to}": connect the edge "${edge.id}" or remove it`, remove)
}

/** Nodes that no edge and no global rule leads to, and flows that cannot end by themselves. */
function checkReachable(scope: Scope, findings: Findings): void {
  const byId = new Map(scope.nodes.map(node => [node.id, node]))
  const start = scope.startNodeId === null ? undefined : byId.get(scope.startNodeId)
  if (start === undefined) return
  const open = [start, ...scope.nodes.filter(node => node.global_node_setting !== null)]
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
        `Nothing leads to "${node.id}": connect an edge to it, make it global, or remove it`,
        {
          label: `Remove "${node.name || node.id}"`,
          edits: [{ type: 'flow.node.remove', component_id: scope.componentId, node_id: node.id }],
        },
      )
  if (![...reached].some(node => node.type === 'end' || node.type === 'transfer_call'))
    findings.warning(
      'end_unreachable',
      [...scope.path, 'nodes'],
      'No end node can be reached: only the other side, silence or the time limit ends this; connect an end node',
    )
}

/** Components that are there, and that do not contain themselves. */
function checkCalls({ flow }: DraftContent, scopes: readonly Scope[], findings: Findings): void {
  const known = new Map(flow.components.map(component => [component.component_id, component.nodes]))
  for (const scope of scopes)
    for (const [index, node] of scope.nodes.entries()) {
      if (node.type !== 'component') continue
      const path = [...scope.path, 'nodes', index, 'component_id']
      if (!known.has(node.component_id))
        findings.error(
          'component_unknown',
          path,
          `There is no component "${node.component_id}": add it to the flow, or name another`,
        )
      else if (scope.componentId !== null && reaches(known, node.component_id, scope.componentId))
        findings.error(
          'component_recursive',
          path,
          `The component "${scope.componentId}" would run inside itself: use edges for a repetition`,
        )
    }
}

function reaches(components: ReadonlyMap<string, readonly FlowNode[]>, from: string, to: string): boolean {
  const open = [from]
  const seen = new Set(open)
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true
    for (const node of components.get(id) ?? [])
      if (node.type === 'component' && !seen.has(node.component_id)) {
        seen.add(node.component_id)
        open.push(node.component_id)
      }
  }
  return false
}
