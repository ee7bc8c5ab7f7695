import type { TimelineFact } from '../timeline.ts'

/** What a caller or an action's server can notice of a fact; null: nothing. */
export function noticeable(fact: TimelineFact): readonly unknown[] | null {
  switch (fact.kind) {
    case 'node':
      return ['node', fact.node_id]
    case 'utterance':
      return [fact.role, fact.text]
    case 'action':
      return ['action', fact.action_id, fact.phase]
    default:
      return null
  }
}
