import type { DraftEdit } from '@parley/contract'
import { canonicalJson } from '@parley/kernel'
import type { Action } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import { DRAFT_LIMITS } from './limits.ts'
import { limitReached, notApplicable, type Refusal } from './refusal.ts'

type ActionEdit = Extract<DraftEdit, { type: 'action.put' | 'action.remove' }>

/** An action keeps its place when it is put again. */
export function applyActionEdit({ actions }: DraftContent, edit: ActionEdit): Refusal | null {
  switch (edit.type) {
    case 'action.put': {
      const { action_id: id } = edit.action
      const index = actions.findIndex(action => action.action_id === id)
      if (index === -1) {
        if (actions.length >= DRAFT_LIMITS.actions)
          return limitReached('action', `a draft has at most ${DRAFT_LIMITS.actions} actions`)
        actions.push({ ...edit.action, version: 1 })
      } else actions[index] = nextOf(actions[index]!, edit.action)
      return null
    }
    case 'action.remove': {
      const index = actions.findLastIndex(action => action.action_id === edit.action_id)
      if (index === -1) return notApplicable('action_id', `there is no action "${edit.action_id}"`)
      actions.splice(index, 1)
      return null
    }
  }
}

/** The version is the server's: one more where the action changes. */
function nextOf(held: Action, put: Action): Action {
  const same: Action = { ...put, version: held.version }
  return canonicalJson(same) === canonicalJson(held) ? held : { ...put, version: held.version + 1 }
}
