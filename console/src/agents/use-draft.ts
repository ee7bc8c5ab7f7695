import { type Diagnostic, ParleyApiError, type RequestTo } from '@parley/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { type Difference, differences } from './draft-diff.ts'
import type { Draft } from './flow-graph.ts'

export type Edits = RequestTo<'drafts.edit'>['body']['edits']

/** How often changes of other people are looked for, in ms. */
const REFRESH_MS = 3000

/** A change of another person, and the change of this person that was not stored because of it. */
interface ForeignChange {
  readonly differences: readonly Difference[]
  /** Null: nothing of ours was refused. */
  readonly refused: Edits | null
}

export interface OpenDraft {
  readonly draft: Draft
  readonly diagnostics: readonly Diagnostic[]
  readonly isSaving: boolean
  readonly fault: unknown
  readonly foreign: ForeignChange | null
  /** Stores edits under compare-and-set on the shown revision; a conflict shows the other's change. */
  edit(edits: Edits): void
  dismissForeign(): void
}

type DraftState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'none' }
  | { readonly kind: 'fault'; readonly error: unknown }
  | { readonly kind: 'open'; readonly open: OpenDraft }

/** The open draft of an agent: shown, edited, validated, and kept up with changes of others. */
export function useDraft(agentId: string): DraftState {
  const api = useApi()
  const queries = useQueryClient()
  const queryKey = ['drafts.get', agentId]
  const own = useRef<Draft | null>(null)
  const [foreign, setForeign] = useState<ForeignChange | null>(null)
  const draft = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.drafts.get({ params: { agent_id: agentId } }, { signal }),
  })
  const revision = useNewestRevision(agentId, draft.isSuccess)
  const shown = draft.data
  useEffect(() => {
    const known = own.current
    if (shown !== undefined && known !== null && known.revision !== shown.revision && known.draft_id === shown.draft_id)
      setForeign(before => ({
        differences: differences(contentOf(known), contentOf(shown)),
        refused: before?.refused ?? null,
      }))
    own.current = shown ?? null
  }, [shown])
  const saving = useMutation({
    mutationFn: async ({ edits, at }: { edits: Edits; at: Draft }) => {
      const body = { draft_id: at.draft_id, expected_revision: at.revision, edits }
      await api.drafts.edit({ params: { agent_id: agentId }, body })
      const changed = await api.drafts.get({ params: { agent_id: agentId } })
      // Exactly one revision later it is ours alone.
      if (changed.revision === at.revision + 1) own.current = changed
      queries.setQueryData(queryKey, changed)
    },
    onError: (error, { edits }) => {
      if (!(error instanceof ParleyApiError && error.reason === 'stale_revision')) return
      setForeign(before => ({ differences: before?.differences ?? [], refused: edits }))
      void queries.invalidateQueries({ queryKey })
    },
  })
  // Another person's revision leads to a new reading of the draft.
  const isStale = !saving.isPending && revision !== null && shown !== undefined && revision > shown.revision
  useEffect(() => {
    if (isStale) void queries.invalidateQueries({ queryKey: ['drafts.get', agentId] })
  }, [isStale, queries, agentId])
  const diagnostics = useDiagnostics(agentId, shown)
  if (draft.isPending) return { kind: 'loading' }
  if (draft.isError)
    return draft.error instanceof ParleyApiError && draft.error.code === 'not_found'
      ? { kind: 'none' }
      : { kind: 'fault', error: draft.error }
  const isConflict = saving.error instanceof ParleyApiError && saving.error.reason === 'stale_revision'
  return {
    kind: 'open',
    open: {
      draft: draft.data,
      diagnostics,
      isSaving: saving.isPending,
      fault: isConflict ? null : saving.error,
      foreign,
      edit: edits => saving.mutate({ edits, at: draft.data }),
      dismissForeign: () => setForeign(null),
    },
  }
}

/** The content of a draft, without what changes with every revision. */
function contentOf({ agent, draft_id, revision, base_version, published_revision, updated_at, ...content }: Draft) {
  return content
}

function useNewestRevision(agentId: string, enabled: boolean): number | null {
  const api = useApi()
  const agent = useQuery({
    queryKey: ['agents.get', agentId],
    queryFn: ({ signal }) => api.agents.get({ params: { agent_id: agentId } }, { signal }),
    enabled,
    refetchInterval: REFRESH_MS,
  })
  return agent.data?.draft?.revision ?? null
}

function useDiagnostics(agentId: string, draft: Draft | undefined): readonly Diagnostic[] {
  const api = useApi()
  const validation = useQuery({
    queryKey: ['drafts.validate', agentId, draft?.draft_id, draft?.revision],
    enabled: draft !== undefined,
    queryFn: ({ signal }) =>
      api.drafts.validate(
        { params: { agent_id: agentId }, body: { draft_id: draft!.draft_id, expected_revision: draft!.revision } },
        { signal },
      ),
    placeholderData: previous => previous,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return validation.data?.diagnostics ?? []
}
