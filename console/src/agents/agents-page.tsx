import type { ResultFrom } from '@parley/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link, navigate, useSearch } from '../router.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, PageHead } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'

type Agent = ResultFrom<'agents.get'>

/** The agents with their live version, draft and last run. */
export function AgentsPage() {
  const api = useApi()
  const { text } = useTexts()
  const [search, setSearch] = useSearch()
  const [isCreating, setCreating] = useState(false)
  const id = useId()
  const q = search.get('q') ?? ''
  const columns = useAgentColumns()
  return (
    <>
      <PageHead title={text('nav.agents')} lead={text('agents.lead')}>
        <button type="button" className="button primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          {text('agents.new')}
        </button>
      </PageHead>
      <div className="filters">
        <div className="filter wide">
          <label htmlFor={id}>{text('agents.search')}</label>
          <input
            id={id}
            type="search"
            data-filter
            value={q}
            maxLength={256}
            onChange={event =>
              setSearch(new URLSearchParams(event.target.value === '' ? {} : { q: event.target.value }))
            }
          />
        </div>
      </div>
      <PagedTable
        caption={text('nav.agents')}
        columns={columns}
        keyOf={agent => agent.ref.id}
        queryKey={['agents.list', q]}
        load={async (cursor, signal) => {
          const page = await api.agents.list({ query: { q, limit: 50, cursor } }, { signal })
          return { rows: page.agents, next: page.next_cursor }
        }}
        empty={text('agents.empty')}
      />
      {isCreating && <NewAgent onClose={() => setCreating(false)} />}
    </>
  )
}

function useAgentColumns(): readonly Column<Agent>[] {
  const { text, word, dateTime } = useTexts()
  return [
    {
      header: text('agents.name'),
      cell: agent => (
        <Link to={{ page: 'agent', agentId: agent.ref.id, tab: 'flow' }} className="agent-link">
          <strong>{agent.name}</strong>
          <span className="code hint">{agent.ref.id}</span>
        </Link>
      ),
    },
    { header: text('agents.live'), cell: agent => (agent.head === null ? '–' : agent.head.version), isNumber: true },
    {
      header: text('agents.channels'),
      cell: agent => agent.head?.channels.map(channel => word('channel', channel)).join(', ') ?? '–',
    },
    { header: text('agents.draft'), cell: agent => <DraftBadge draft={agent.draft} /> },
    {
      header: text('agents.lastRun'),
      cell: agent =>
        agent.last_run === null ? (
          '–'
        ) : (
          <Link to={{ page: 'run', runId: agent.last_run.run_id }}>{dateTime(agent.last_run.created_at)}</Link>
        ),
    },
  ]
}

function DraftBadge({ draft }: { readonly draft: Agent['draft'] }) {
  const { text } = useTexts()
  if (draft === null) return '–'
  const isPublished = draft.revision === draft.published_revision
  return (
    <Badge tone={isPublished ? 'neutral' : 'warn'}>{text(isPublished ? 'agents.upToDate' : 'agents.changed')}</Badge>
  )
}

const TEMPLATES = ['phone_outbound', 'cloud_chat', 'cloud_task', 'blank'] as const

function NewAgent({ onClose }: { readonly onClose: () => void }) {
  const api = useApi()
  const { text, word, language } = useTexts()
  const create = useMutation({
    mutationFn: (form: FormData) =>
      api.agents.create({
        body: {
          name: String(form.get('name')).trim(),
          template: TEMPLATES.find(name => name === form.get('template')) ?? 'blank',
          language: form.get('language') === 'es' ? 'es' : 'en',
        },
      }),
    onSuccess: agent => {
      onClose()
      navigate({ page: 'agent', agentId: agent.ref.id, tab: 'flow' })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    create.mutate(new FormData(event.currentTarget))
  }
  const choices = (group: string, values: readonly string[]) =>
    values.map(value => [value, word(group, value)] as const)
  return (
    <Dialog title={text('agents.new')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField name="name" label={text('agents.name')} required maxLength={256} />
        <SelectField name="template" label={text('agents.template')} choices={choices('template', TEMPLATES)} />
        <SelectField
          name="language"
          label={text('agents.language')}
          choices={choices('language', ['en', 'es'])}
          defaultValue={language}
        />
        <FormActions label={text('agents.create')} isPending={create.isPending} error={create.error} />
      </form>
    </Dialog>
  )
}
