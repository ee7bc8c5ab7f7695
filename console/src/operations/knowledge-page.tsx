import type { ResultFrom } from '@parley/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextArea, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Facts, Fault, PageHead, Section, type Tone } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

type Document = ResultFrom<'knowledge.documents_list'>['items'][number]

const TONES: Readonly<Record<Document['state'], Tone>> = { pending: 'live', embedded: 'good', failed: 'bad' }
const ALL = ['knowledge']

/** The documents that agents search, and a search as agents do it. */
export function KnowledgePage() {
  const { text } = useTexts()
  const [isAdding, setAdding] = useState(false)
  return (
    <>
      <PageHead title={text('nav.knowledge')} lead={text('knowledge.lead')}>
        <button type="button" className="button primary" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          {text('knowledge.add')}
        </button>
      </PageHead>
      <div className="stack">
        <Status />
        <Search />
        <Documents />
      </div>
      {isAdding && <NewDocument onClose={() => setAdding(false)} />}
    </>
  )
}

function Status() {
  const api = useApi()
  const { text, word, number } = useTexts()
  const status = useQuery({
    queryKey: [...ALL, 'status'],
    queryFn: ({ signal }) => api.knowledge.get({}, { signal }),
    refetchInterval: 10_000,
  })
  const reembed = useChange(ALL, (_: null) => api.knowledge.reembed({ body: {} }))
  if (status.isError) return <Fault error={status.error} />
  if (status.data === undefined) return null
  const { configured, model_identity: model, generation, pending_documents } = status.data
  return (
    <Section
      title={text('knowledge.status')}
      actions={
        configured && (
          <button
            type="button"
            className="button small"
            disabled={reembed.isPending}
            onClick={() => reembed.mutate(null)}
          >
            {text('knowledge.reembed')}
          </button>
        )
      }
    >
      {!configured && <p className="hint">{text('knowledge.notConfigured')}</p>}
      <Facts
        rows={[
          [text('latency.llm'), model === null ? null : `${model.provider} · ${model.model_id}`],
          [text('knowledge.generation'), generation === null ? null : word('generation', generation.state)],
          [text('knowledge.documents'), generation === null ? null : number(generation.document_count)],
          [text('knowledge.pending'), number(pending_documents)],
        ]}
      />
      {reembed.isError && <Fault error={reembed.error} />}
    </Section>
  )
}

function Search() {
  const api = useApi()
  const { text, number } = useTexts()
  const search = useMutation({ mutationFn: (query: string) => api.knowledge.search({ body: { query } }) })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    search.mutate(String(new FormData(event.currentTarget).get('query')))
  }
  return (
    <Section title={text('knowledge.search')}>
      <form className="inline-form" onSubmit={submit}>
        <TextField label={text('knowledge.question')} name="query" required maxLength={2000} />
        <button type="submit" className="button" disabled={search.isPending}>
          {text('knowledge.search')}
        </button>
      </form>
      {search.isError && <Fault error={search.error} />}
      {search.data?.items.length === 0 && <p className="hint">{text('knowledge.nothing')}</p>}
      <ol className="passages">
        {search.data?.items.map(item => (
          <li key={`${item.document_id} ${item.chunk_index}`}>
            <strong>{item.title}</strong>{' '}
            <span className="hint">{number(item.score, { maximumFractionDigits: 2 })}</span>
            <p>{item.text}</p>
          </li>
        ))}
      </ol>
    </Section>
  )
}

function Documents() {
  const api = useApi()
  const { text, word, number, dateTime } = useTexts()
  const remove = useChange(ALL, (document_id: string) => api.knowledge.documentsDelete({ params: { document_id } }))
  const columns: readonly Column<Document>[] = [
    { header: text('knowledge.title'), cell: document => <strong>{document.title}</strong> },
    {
      header: text('run.state'),
      cell: document => (
        <span className="badges">
          <Badge tone={TONES[document.state]}>{word('documentState', document.state)}</Badge>
          {document.error !== null && <span className="hint">{document.error}</span>}
        </span>
      ),
    },
    { header: text('knowledge.passages'), cell: document => document.chunk_count ?? '–', isNumber: true },
    {
      header: text('knowledge.size'),
      cell: document => `${number(Math.ceil(document.byte_size / 1024))} KiB`,
      isNumber: true,
    },
    { header: text('run.started'), cell: document => dateTime(document.created_at) },
    {
      header: text('version.action'),
      cell: document => (
        <ConfirmButton label={text('action.delete')} onConfirm={() => remove.mutate(document.document_id)} />
      ),
    },
  ]
  return (
    <Section title={text('knowledge.documents')}>
      {remove.isError && <Fault error={remove.error} />}
      <PagedTable
        caption={text('knowledge.documents')}
        columns={columns}
        keyOf={document => document.document_id}
        queryKey={[...ALL, 'documents']}
        refreshMs={10_000}
        load={async (cursor, signal) => {
          const page = await api.knowledge.documentsList({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('knowledge.empty')}
      />
    </Section>
  )
}

function NewDocument({ onClose }: { readonly onClose: () => void }) {
  const api = useApi()
  const { text } = useTexts()
  const add = useChange(ALL, (form: FormData) =>
    api.knowledge.documentsCreate({
      body: { title: String(form.get('title')).trim(), text: String(form.get('text')), media_type: 'text/markdown' },
    }),
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await add.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => {})
  }
  return (
    <Dialog title={text('knowledge.add')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label={text('knowledge.title')} name="title" required maxLength={256} />
        <TextArea label={text('knowledge.text')} name="text" required rows={10} maxLength={4_000_000} />
        <FormActions label={text('flow.add')} isPending={add.isPending} error={add.error} />
      </form>
    </Dialog>
  )
}
