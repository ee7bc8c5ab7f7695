import { type FlowNode, nodeTypeOf, type PartFix } from '@parley/nodes'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import { addEdgeToEnd, clearInNode, type Fix, putNode, removeNode } from './fixes.ts'
import { type Path, type Scope, scopesOf } from './scope.ts'

/** Runs the checks of each node's type and reports nodes of unsupported types. */
export function checkNodes(draft: DraftContent, findings: Findings): void {
  const kinds = new Map(draft.actions.map(action => [action.action_id, action.kind]))
  const components = new Set(draft.flow.components.map(component => component.component_id))
  const view = {
    actionKind: (id: string) => kinds.get(id),
    hasComponent: (id: string) => components.has(id),
    hasMcpServer: (mcp: string) => (draft.flow.mcps ?? []).some(({ id, name }) => id === mcp || name === mcp),
    sendsSms: draft.settings.sms !== undefined,
  }
  for (const scope of scopesOf(draft))
    for (const [index, node] of scope.nodes.entries()) {
      const path: Path = [...scope.path, 'nodes', index]
      const type = nodeTypeOf(node)
      for (const found of type.check?.(node, view) ?? [])
        findings[found.severity](
          found.code,
          [...path, ...found.path],
          found.message,
          ...found.fixes.map(fix => nodeFix(scope, node, fix)),
        )
    }
}

function nodeFix(scope: Scope, node: FlowNode, fix: PartFix<FlowNode>): Fix | undefined {
  switch (fix.fix) {
    case 'put':
      return putNode(scope, fix.part, fix.label)
    case 'clear':
      return clearInNode(scope, node, fix.path, fix.label)
    case 'remove':
      return removeNode(scope, node)
    case 'add_edge_to_end':
      return addEdgeToEnd(scope, node, fix.slot, fix.edgeId, fix.prompt)
  }
}
