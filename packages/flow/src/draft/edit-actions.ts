import type { DraftEdit } from '@parley/contract'
import { canonicalJson } from '@parley/kernel'
import type { Action } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import { DRAFT_LIMITS } from './limits.ts'
import { limitReached, notApplicable, type Refusal } from './refusal.ts'

type ActionEdit = Extract<DraftEdit, { type: 'action.put' | 'action.remove' }>

/** Adds, replaces or removes an action. An action that is replaced keeps its position. */
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

/** The action with its next version; the current one where nothing changes. The server counts versions. */
function nextOf(current: Action, put: Action): Action {
  const same: Action = { ...put, version: current.version }
  return canonicalJson(same) === canonicalJson(current) ? current : { ...put, version: current.version + 1 }
}
