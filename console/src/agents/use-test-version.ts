import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import type { Draft } from './flow-graph.ts'

/** The version of an agent that a conversation of the console is with. */
export type Partner = 'draft' | 'head'

/**
 * A function that resolves with the version to talk to: that of the draft, which it publishes as a test version, or undefined for
 * the live version.
 */
export function useTestVersion(
  agentId: string,
  draft: Draft | null,
): (partner: Partner) => Promise<number | undefined> {
  const api = useApi()
  const queries = useQueryClient()
  return async partner => {
    if (partner === 'head' || draft === null) return undefined
    const { publication } = await api.publications.publish({
      params: { agent_id: agentId },
      body: { draft_id: draft.draft_id, expected_revision: draft.revision, test: true },
    })
    void queries.invalidateQueries({ queryKey: ['publications.list', agentId] })
    return publication.ref.version
  }
}
