import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { GatePanel } from '../release/gate-panel.tsx'
import { OverrideForm } from '../release/override-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField } from '../ui/fields.tsx'
import { Fault, Loading } from '../ui/parts.tsx'
import { DifferenceList } from './difference-list.tsx'
import { differences } from './draft-diff.ts'
import type { DraftContent } from './flow-graph.ts'
import type { OpenDraft } from './use-draft.ts'

interface PublishProps {
  readonly agentId: string
  readonly open: OpenDraft
  readonly headVersion: number | null
  readonly onClose: () => void
}

/** Shows what a publication of the draft changes for callers, publishes it, and then shows the tests of the release gate, if there is one. */
export function PublishDialog({ agentId, open, headVersion, onClose }: PublishProps) {
  const api = useApi()
  const { text } = useTexts()
  const queries = useQueryClient()
  const [isTest, setTest] = useState(false)
  /** The published version that waits for its release gate; null: none. */
  const [gated, setGated] = useState<number | null>(null)
  const { draft, diagnostics } = open
  const head = useQuery({
    queryKey: ['publications.get', agentId, headVersion],
    enabled: headVersion !== null,
    queryFn: ({ signal }) => api.publications.get({ params: { agent_id: agentId, version: headVersion! } }, { signal }),
  })
  const publish = useMutation({
    mutationFn: (reason: string | null) =>
      api.publications.publish({
        params: { agent_id: agentId },
        body: {
          draft_id: draft.draft_id,
          expected_revision: draft.revision,
          test: isTest,
          ...(reason !== null && { override: { reason } }),
        },
      }),
    onSuccess: async ({ gate, publication }) => {
      await queries.invalidateQueries()
      if (gate.state === 'running' || gate.state === 'failed') setGated(publication.ref.version)
      else onClose()
    },
  })
  // The release gate of the live version decides; if it has none, the one in the draft.
  const hasGate = (head.data?.draft.settings.releaseGate ?? draft.settings.releaseGate) != null
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (gated !== null)
    return (
      <Dialog title={text('gate.titleOf', { version: gated })} onClose={onClose}>
        <div className="form">
          <p>{text('gate.published')}</p>
          <GatePanel agentId={agentId} version={gated} />
        </div>
      </Dialog>
    )
  return (
    <Dialog title={text('publish.title')} onClose={onClose}>
      <div className="form">
        {headVersion === null && <p>{text('publish.first')}</p>}
        {head.isLoading && <Loading />}
        {head.isError && <Fault error={head.error} />}
        {head.data !== undefined && (
          <>
            <p>{text('publish.changes', { version: head.data.publication.ref.version })}</p>
            <DifferenceList differences={differences(head.data.draft, contentLike(head.data.draft, draft))} />
          </>
        )}
        {errors.length > 0 && (
          <ul className="diagnostics">
            {errors.map(({ code, path, message }) => (
              <li key={`${code} ${path}`} className="error">
                {message}
              </li>
            ))}
          </ul>
        )}
        <CheckField label={text('publish.test')} checked={isTest} onChange={event => setTest(event.target.checked)} />
        {hasGate && !isTest && (
          <>
            <p className="hint">{text('gate.inForce')}</p>
            {errors.length === 0 && (
              <OverrideForm isPending={publish.isPending} onOverride={reason => publish.mutate(reason)} />
            )}
          </>
        )}
        {publish.isError && <Fault error={publish.error} />}
        <div className="form-actions">
          <button type="button" className="button" onClick={onClose}>
            {text('action.cancel')}
          </button>
          <button
            type="button"
            className="button primary"
            disabled={publish.isPending || errors.length > 0}
            onClick={() => publish.mutate(null)}
          >
            {text(isTest ? 'publish.doTest' : hasGate ? 'publish.doGate' : 'publish.do')}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

/** The draft, reduced to the properties that a publication has. */
function contentLike(published: DraftContent, draft: DraftContent): Partial<DraftContent> {
  const names = Object.keys(published) as (keyof DraftContent)[]
  return Object.fromEntries(names.map(name => [name, draft[name]]))
}
