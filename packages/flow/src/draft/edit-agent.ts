import type { DraftEdit } from '@parley/contract'
import type { DraftContent } from '../plan/draft.ts'
import { notApplicable, type Refusal } from './refusal.ts'

type AgentEdit = Extract<
  DraftEdit,
  {
    type:
      | 'agent.name'
      | 'agent.settings'
      | 'agent.telephony'
      | 'agent.provider'
      | 'agent.knowledge'
      | 'agent.analysis'
      | 'agent.recording'
      | 'notification.put'
      | 'notification.remove'
      | 'phone.inbound_context'
  }
>

/** Changes the parts of a draft other than its flow and actions. Removing a part that is not set changes nothing. */
export function applyAgentEdit(draft: DraftContent, edit: AgentEdit): Refusal | null {
  switch (edit.type) {
    case 'agent.name':
      draft.name = edit.name
      return null
    case 'agent.settings':
      return setAndClear(draft.settings, edit.values, edit.clear)
    case 'agent.telephony':
      draft.telephony = edit.value && { trunkId: edit.value.trunkId, from: edit.value.from ?? null }
      return null
    case 'agent.provider':
      changeMembers(draft.providers[edit.role], edit.changes)
      return null
    case 'agent.knowledge':
      draft.knowledge = edit.value
      return null
    case 'agent.analysis':
      draft.analysis = edit.value
      return null
    case 'agent.recording':
      draft.recording = edit.value
      return null
    case 'notification.put':
      draft.notification = edit.notification
      return null
    case 'notification.remove':
      draft.notification = null
      return null
    case 'phone.inbound_context':
      draft.inbound_context = edit.value
      return null
  }
}

/** Sets the members in `values` and removes those in `clear`. A name in both is refused. */
export function setAndClear(target: object, values: object, clear: readonly string[]): Refusal | null {
  const inBoth = clear.find(name => Object.hasOwn(values, name))
  if (inBoth !== undefined)
    return notApplicable('clear', `"${inBoth}" is in both values and clear: leave it out of one`)
  for (const name of clear) Reflect.deleteProperty(target, name)
  changeMembers(target, values)
  return null
}

/** Null removes a member; undefined leaves it unchanged. */
function changeMembers(target: object, changes: object): void {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) Reflect.deleteProperty(target, name)
    else if (value !== undefined) Reflect.set(target, name, value)
  }
}
