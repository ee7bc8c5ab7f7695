import { type DraftEdit, jsonPointer } from '@parley/contract'
import type { DraftContent } from '../plan/draft.ts'
import { applyActionEdit } from './edit-actions.ts'
import { applyAgentEdit } from './edit-agent.ts'
import { applyEdgeEdit } from './edit-edges.ts'
import { applyFlowEdit } from './edit-flow.ts'
import { applyNodeEdit } from './edit-nodes.ts'
import { DRAFT_LIMITS, draftBytes } from './limits.ts'
import type { Refusal } from './refusal.ts'

export type EditsApplied =
  | { readonly ok: true; readonly draft: DraftContent }
  | {
      readonly ok: false
      /** `limit_reached`: the draft would exceed {@link DRAFT_LIMITS}. */
      readonly reason: Refusal['reason']
      /** `path`: a JSON pointer into the request, `/edits/N/…`. */
      readonly issues: readonly [{ readonly path: string; readonly message: string }]
    }

/**
 * Applies the edits in order: all of them, or none. `edits` must have been parsed by the contract's schema. A draft that
 * matches the schema still does afterwards. Neither the draft nor the edits are changed, and the result shares no object
 * with them. An edit may refer to parts that do not exist; validation reports them.
 */
export function applyEdits(draft: DraftContent, edits: readonly DraftEdit[]): EditsApplied {
  const changed = structuredClone(draft)
  for (const [index, edit] of edits.entries()) {
    const refusal = applyEdit(changed, structuredClone(edit))
    if (refusal === null) continue
    const path = jsonPointer(['edits', index, ...refusal.path])
    return { ok: false, reason: refusal.reason, issues: [{ path, message: refusal.message }] }
  }
  if (draftBytes(changed) > DRAFT_LIMITS.bytes) {
    const message = 'the draft would be larger than 4 MiB: shorten its texts, or remove nodes and actions'
    return { ok: false, reason: 'limit_reached', issues: [{ path: '/edits', message }] }
  }
  return { ok: true, draft: changed }
}

/** Changes the draft in place; null: done. */
function applyEdit(draft: DraftContent, edit: DraftEdit): Refusal | null {
  switch (edit.type) {
    case 'agent.name':
    case 'agent.settings':
    case 'agent.telephony':
    case 'agent.provider':
    case 'agent.knowledge':
    case 'agent.analysis':
    case 'agent.recording':
    case 'notification.put':
    case 'notification.remove':
    case 'phone.inbound_context':
      return applyAgentEdit(draft, edit)
    case 'action.put':
    case 'action.remove':
      return applyActionEdit(draft, edit)
    case 'flow.prompt':
    case 'flow.start':
    case 'flow.variables':
    case 'flow.component.put':
    case 'flow.component.remove':
      return applyFlowEdit(draft, edit)
    case 'flow.node.put':
    case 'flow.node.remove':
    case 'node.instruction':
      return applyNodeEdit(draft, edit)
    case 'flow.edge.put':
    case 'flow.edge.remove':
      return applyEdgeEdit(draft, edit)
  }
}
