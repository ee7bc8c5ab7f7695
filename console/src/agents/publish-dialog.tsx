import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
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

/** Publishes the draft, after it shows what changes for callers. */
export function PublishDialog({ agentId, open, headVersion, onClose }: PublishProps) {
  const api = useApi()
  const { text } = useTexts()
  const queries = useQueryClient()
  const [isTest, setTest] = useState(false)
  const { draft, diagnostics } = open
  const head = useQuery({
    queryKey: ['publications.get', agentId, headVersion],
    enabled: headVersion !== null,
    queryFn: ({ signal }) => api.publications.get({ params: { agent_id: agentId, version: headVersion! } }, { signal }),
  })
  const publish = useMutation({
    mutationFn: () =>
      api.publications.publish({
        params: { agent_id: agentId },
        body: { draft_id: draft.draft_id, expected_revision: draft.revision, test: isTest },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries()
      onClose()
    },
  })
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
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
        {publish.isError && <Fault error={publish.error} />}
        <div className="form-actions">
          <button type="button" className="button" onClick={onClose}>
            {text('action.cancel')}
          </button>
          <button
            type="button"
            className="button primary"
            disabled={publish.isPending || errors.length > 0}
            onClick={() => publish.mutate()}
          >
            {text(isTest ? 'publish.doTest' : 'publish.do')}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

/** The members of `draft` that a publication has. */
function contentLike(published: DraftContent, draft: DraftContent): Partial<DraftContent> {
  const names = Object.keys(published) as (keyof DraftContent)[]
  return Object.fromEntries(names.map(name => [name, draft[name]]))
}
