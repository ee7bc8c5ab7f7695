import type { DraftEdit } from '@parley/contract'
import { type FlowNode, type Instruction, nodeTypeOf, slottedEdges } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import { editedFlow, editedNode } from './edited-flow.ts'
import { DRAFT_LIMITS } from './limits.ts'
import { limitReached, notApplicable, Refusal } from './refusal.ts'

type NodeEdit = Extract<DraftEdit, { type: 'flow.node.put' | 'flow.node.remove' | 'node.instruction' }>

/** Adds, replaces or removes a node. A node that is replaced keeps its position; edges to a removed node lose their destination. */
export function applyNodeEdit(draft: DraftContent, edit: NodeEdit): Refusal | null {
  switch (edit.type) {
    case 'flow.node.put': {
      const edited = editedFlow(draft, edit.component_id)
      if (edited instanceof Refusal) return edited
      const index = edited.nodes.findIndex(node => node.id === edit.node.id)
      if (index === -1) {
        if (edited.nodes.length >= DRAFT_LIMITS.nodes)
          return limitReached('node', `a flow or component has at most ${DRAFT_LIMITS.nodes} nodes`)
        edited.nodes.push(edit.node)
      } else edited.nodes[index] = edit.node
      return null
    }
    case 'flow.node.remove': {
      const edited = editedFlow(draft, edit.component_id)
      if (edited instanceof Refusal) return edited
      const index = edited.nodes.findLastIndex(node => node.id === edit.node_id)
      if (index === -1) return notApplicable('node_id', `the flow or component has no node "${edit.node_id}"`)
      edited.nodes.splice(index, 1)
      if (!edited.nodes.some(node => node.id === edit.node_id)) disconnect(edited.nodes, edit.node_id)
      return null
    }
    case 'node.instruction': {
      const node = editedNode(draft, edit)
      return node instanceof Refusal ? node : instruct(node, edit.instruction)
    }
  }
}

function disconnect(nodes: readonly FlowNode[], id: string): void {
  for (const node of nodes)
    for (const { edge } of slottedEdges(node)) if (edge.destination_node_id === id) edge.destination_node_id = null
}

function instruct(node: FlowNode, instruction: Instruction): Refusal | null {
  if (!nodeTypeOf(node).hasInstruction)
    return notApplicable('node_id', `the node "${node.id}" is of type "${node.type}", which has no instruction`)
  Object.assign(node, { instruction })
  return null
}
