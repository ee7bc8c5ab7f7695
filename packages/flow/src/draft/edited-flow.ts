import type { FlowNode } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import type { Component, Flow } from '../plan/flow.ts'
import { notApplicable, Refusal } from './refusal.ts'

/** The main flow (null) or the component that an edit names. */
export function editedFlow({ flow }: DraftContent, componentId: string | null): Flow | Component | Refusal {
  if (componentId === null) return flow
  const component = flow.components.find(candidate => candidate.component_id === componentId)
  return component ?? notApplicable('component_id', `the flow has no component "${componentId}"`)
}

/** The node that an edit names. */
export function editedNode(
  draft: DraftContent,
  edit: { readonly component_id: string | null; readonly node_id: string },
): FlowNode | Refusal {
  const edited = editedFlow(draft, edit.component_id)
  if (edited instanceof Refusal) return edited
  const node = edited.nodes.find(candidate => candidate.id === edit.node_id)
  return node ?? notApplicable('node_id', `the flow or component has no node "${edit.node_id}"`)
}
