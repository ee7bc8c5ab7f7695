import type { DraftEdit } from '@parley/contract'
import type { DraftContent } from '../plan/draft.ts'
import { setAndClear } from './edit-agent.ts'
import { editedFlow } from './edited-flow.ts'
import { DRAFT_LIMITS } from './limits.ts'
import { limitReached, notApplicable, Refusal } from './refusal.ts'

type FlowEdit = Extract<
  DraftEdit,
  { type: 'flow.prompt' | 'flow.start' | 'flow.variables' | 'flow.component.put' | 'flow.component.remove' }
>

/** Changes the flow as a whole: its prompt, start and variables, and its components. */
export function applyFlowEdit(draft: DraftContent, edit: FlowEdit): Refusal | null {
  const { flow } = draft
  switch (edit.type) {
    case 'flow.prompt':
      flow.global_prompt = edit.text
      return null
    case 'flow.start':
      return start(draft, edit)
    case 'flow.variables':
      return setAndClear(flow.default_dynamic_variables, edit.values, edit.clear)
    case 'flow.component.put': {
      const index = flow.components.findIndex(component => component.component_id === edit.component.component_id)
      if (index === -1) {
        if (flow.components.length >= DRAFT_LIMITS.components)
          return limitReached('component', `a flow has at most ${DRAFT_LIMITS.components} components`)
        flow.components.push(edit.component)
      } else flow.components[index] = edit.component
      return null
    }
    case 'flow.component.remove': {
      const index = flow.components.findLastIndex(component => component.component_id === edit.component_id)
      if (index === -1) return notApplicable('component_id', `the flow has no component "${edit.component_id}"`)
      flow.components.splice(index, 1)
      return null
    }
  }
}

function start(draft: DraftContent, edit: Extract<DraftEdit, { type: 'flow.start' }>): Refusal | null {
  const { component_id, node_id, start_speaker, begin_after_user_silence_ms } = edit
  const edited = editedFlow(draft, component_id)
  if (edited instanceof Refusal) return edited
  if (component_id !== null && (start_speaker !== undefined || begin_after_user_silence_ms !== undefined))
    return notApplicable(
      start_speaker === undefined ? 'begin_after_user_silence_ms' : 'start_speaker',
      'a component has no first speaker: set it on the main flow (component_id null)',
    )
  edited.start_node_id = node_id
  if (start_speaker !== undefined) draft.flow.start_speaker = start_speaker
  if (begin_after_user_silence_ms !== undefined) draft.flow.begin_after_user_silence_ms = begin_after_user_silence_ms
  return null
}
