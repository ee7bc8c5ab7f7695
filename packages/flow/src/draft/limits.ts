import type { DraftContent } from '../plan/draft.ts'

/** Maximum sizes of a draft. Nodes are counted per flow or component, edges per list of a node. */
export const DRAFT_LIMITS = {
  actions: 100,
  edges: 100,
  nodes: 500,
  components: 50,
  /** Size of the draft as JSON in UTF-8. */
  bytes: 4 * 1024 * 1024,
} as const

/** The size of a draft as JSON in UTF-8, in bytes. */
export function draftBytes(draft: DraftContent): number {
  return new TextEncoder().encode(JSON.stringify(draft)).length
}
