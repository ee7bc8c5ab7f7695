import type { Action } from './action.ts'
import { checkTransfer } from './check-transfer.ts'
import type { DraftContent } from './draft.ts'
import type { Findings } from './findings.ts'
import { putNode, removeEdge, removeNode } from './fixes.ts'
import type { FlowNode, FunctionNode, SubagentNode } from './node.ts'
import { conditionalEdges } from './node-edges.ts'
import { type Path, type Scope, scopesOf } from './scope.ts'

/** Nodes that the engine cannot run, or that refer to no action. */
export function checkCapabilities(draft: DraftContent, findings: Findings): void {
  const actions = new Map(draft.actions.map(action => [action.action_id, action]))
  const components = new Set(draft.flow.components.map(component => component.component_id))
  for (const scope of scopesOf(draft))
    for (const [index, node] of scope.nodes.entries())
      checkNode(node, [...scope.path, 'nodes', index], scope, { actions, components }, findings)
}

interface Known {
  readonly actions: ReadonlyMap<string, Action>
  readonly components: ReadonlySet<string>
}

function checkNode(node: FlowNode, path: Path, scope: Scope, known: Known, findings: Findings): void {
  switch (node.type) {
    case 'code':
    case 'mcp':
    case 'agent_swap':
    case 'sms':
    case 'bridge_transfer':
    case 'cancel_transfer':
      findings.error(
        'unsupported_capability',
        [...path, 'type'],
        `Nodes of type "${node.type}" do not run here yet: replace or remove "${node.id}"`,
        removeNode(scope, node),
      )
      return
    case 'branch':
      for (const [index, edge] of conditionalEdges(node).entries())
        if (edge.transition_condition.type !== 'equation')
          findings.error(
            'unsupported_capability',
            [...path, 'edges', index, 'transition_condition'],
            `The branch "${node.id}" decides by equations only: use one in "${edge.id}", or a conversation node`,
            removeEdge(scope, node, edge) ?? removeNode(scope, node),
          )
      return
    case 'function':
      checkFunction(node, path, scope, known.actions, findings)
      return
    case 'subagent':
      checkTools(node, path, scope, known.actions, findings)
      return
    case 'transfer_call':
      checkTransfer(node, path, findings, (fields, label) => putNode(scope, { ...node, ...fields }, label))
      return
    case 'press_digit':
      if (node.instruction.type === 'static_text' && !isDigits(node.instruction.text))
        findings.error(
          'draft_malformed',
          [...path, 'instruction', 'text'],
          'Only 0-9, *, #, w (a pause of 500 ms) and variables can be pressed; for anything else use a prompt',
          putNode(
            scope,
            { ...node, instruction: { type: 'prompt', text: node.instruction.text } },
            'Let the model choose the digits by this text',
          ),
        )
      return
    case 'component':
      if (node.component_type === 'shared')
        findings.error(
          'unsupported_capability',
          [...path, 'component_type'],
          `Components shared between agents do not run here yet: copy that of "${node.id}" into this flow as a local one`,
          known.components.has(node.component_id)
            ? putNode(scope, { ...node, component_type: 'local' }, 'Use the one of this flow')
            : removeNode(scope, node),
        )
      return
    default:
  }
}

/** Digits that can be pressed; what variables hold is known on the call only. */
function isDigits(text: string): boolean {
  const fixed = text.replace(/\{\{[^{}]*\}\}/g, '')
  return /^[0-9*#w]*$/.test(fixed) && text.length > 0
}

function checkFunction(
  node: FunctionNode,
  path: Path,
  scope: Scope,
  actions: ReadonlyMap<string, Action>,
  findings: Findings,
): void {
  const action = actions.get(node.tool_id)
  if (action === undefined)
    findings.error(
      'action_unknown',
      [...path, 'tool_id'],
      `There is no action "${node.tool_id}" for "${node.id}": define it, or name another`,
      removeNode(scope, node),
    )
  else if (action.kind !== 'http')
    findings.error(
      'unsupported_capability',
      [...path, 'tool_id'],
      `The function "${node.id}" runs actions of kind http: for "${action.kind}" use the node type of that name`,
      removeNode(scope, node),
    )
}

function checkTools(
  node: SubagentNode,
  path: Path,
  scope: Scope,
  actions: ReadonlyMap<string, Action>,
  findings: Findings,
): void {
  for (const [index, id] of node.tool_ids.entries())
    if (!actions.has(id))
      findings.error(
        'action_unknown',
        [...path, 'tool_ids', index],
        `There is no action "${id}": define or remove it`,
        putNode(scope, { ...node, tool_ids: node.tool_ids.filter(other => other !== id) }, `Leave "${id}" out`),
      )
}
