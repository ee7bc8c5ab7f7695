import type { DraftEdit } from '@parley/contract'
import type { DraftContent } from '@parley/flow'

/** Limit of the API for one request. */
const MAX_EDITS = 100

/**
 * The edits that turn a blank agent, or an older version of `draft`, into `draft`: one list per request. Nodes, components
 * and actions that only the older version has are not removed.
 */
export function editsFor(draft: DraftContent): DraftEdit[][] {
  const edits = [...agentEdits(draft), ...flowEdits(draft)]
  return Array.from({ length: Math.ceil(edits.length / MAX_EDITS) }, (_, index) =>
    edits.slice(index * MAX_EDITS, (index + 1) * MAX_EDITS),
  )
}

function agentEdits(draft: DraftContent): DraftEdit[] {
  const { stt, llm, tts } = draft.providers
  const { telephony, notification } = draft
  return [
    { type: 'agent.name', name: draft.name },
    { type: 'agent.settings', values: draft.settings, clear: [] },
    { type: 'agent.provider', role: 'stt', changes: stt },
    { type: 'agent.provider', role: 'llm', changes: llm },
    // A voice that the draft had belongs to the service that it had.
    { type: 'agent.provider', role: 'tts', changes: { voiceId: null, ...tts } },
    { type: 'agent.recording', value: draft.recording },
    {
      type: 'agent.telephony',
      value: telephony && {
        trunkId: telephony.trunkId,
        ...(telephony.from !== null && { from: telephony.from }),
      },
    },
    { type: 'agent.knowledge', value: draft.knowledge },
    { type: 'agent.analysis', value: draft.analysis },
    ...(notification === null ? [] : [{ type: 'notification.put' as const, notification }]),
    ...draft.actions.map(action => ({ type: 'action.put' as const, action })),
    { type: 'phone.inbound_context', value: draft.inbound_context },
  ]
}

function flowEdits({ flow }: DraftContent): DraftEdit[] {
  return [
    { type: 'flow.prompt', text: flow.global_prompt },
    { type: 'flow.variables', values: flow.default_dynamic_variables, clear: [] },
    ...flow.components.map(component => ({ type: 'flow.component.put' as const, component })),
    ...flow.nodes.map(node => ({ type: 'flow.node.put' as const, component_id: null, node })),
    {
      type: 'flow.start',
      component_id: null,
      node_id: flow.start_node_id,
      start_speaker: flow.start_speaker,
      begin_after_user_silence_ms: flow.begin_after_user_silence_ms,
    },
  ]
}
