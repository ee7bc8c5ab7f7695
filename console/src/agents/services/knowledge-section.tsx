import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../../api/api.tsx'
import { useTexts } from '../../i18n/i18n.tsx'
import { CheckList } from '../../ui/check-list.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { Fault, Section } from '../../ui/parts.tsx'
import type { OpenDraft } from '../use-draft.ts'

type Scope = 'none' | 'all' | 'some'

/** The documents that the agent searches, and how many passages it gets. */
export function KnowledgeSection({ open }: { readonly open: OpenDraft }) {
  const { text, word } = useTexts()
  const { knowledge } = open.draft
  const [scope, setScope] = useState<Scope>(
    knowledge === null ? 'none' : knowledge.document_ids === null ? 'all' : 'some',
  )
  const [documentIds, setDocuments] = useState<readonly string[]>(knowledge?.document_ids ?? [])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const value =
      scope === 'none'
        ? null
        : {
            document_ids: scope === 'all' ? null : [...documentIds],
            top_k: Number(form.get('top_k')),
            min_score: Number(form.get('min_score')),
          }
    open.edit([{ type: 'agent.knowledge', value }])
  }
  return (
    <Section title={text('nav.knowledge')}>
      <form className="form" onSubmit={submit}>
        <SelectField
          label={text('knowledge.documents')}
          value={scope}
          onChange={event => setScope(event.target.value as Scope)}
          choices={(['none', 'all', 'some'] as const).map(one => [one, word('knowledgeScope', one)])}
        />
        {scope === 'some' && <DocumentChoice chosen={documentIds} onChange={setDocuments} />}
        {scope !== 'none' && (
          <div className="columns narrow">
            <TextField
              label={text('knowledge.passages')}
              name="top_k"
              type="number"
              min={1}
              max={20}
              required
              defaultValue={knowledge?.top_k ?? 3}
            />
            <TextField
              label={text('services.minimumScore')}
              name="min_score"
              type="number"
              min={0}
              max={1}
              step="any"
              required
              defaultValue={knowledge?.min_score ?? 0}
            />
          </div>
        )}
        <FormActions isPending={open.isSaving} />
      </form>
    </Section>
  )
}

interface DocumentChoiceProps {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

function DocumentChoice({ chosen, onChange }: DocumentChoiceProps) {
  const api = useApi()
  const found = useQuery({
    queryKey: ['knowledge', 'documents', 'names'],
    queryFn: ({ signal }) => api.knowledge.documentsList({ query: { limit: 200 } }, { signal }),
  })
  if (found.isError) return <Fault error={found.error} />
  return (
    <CheckList
      legend="knowledge.documents"
      empty="knowledge.empty"
      choices={found.data?.items.map(({ document_id, title }) => [document_id, title] as const) ?? null}
      chosen={chosen}
      onChange={onChange}
    />
  )
}
