import type { ResultFrom } from '@parley/client'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { useAgentNames } from '../runs/use-agent-names.ts'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextArea, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Fault, Section } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { ShownOnce } from './shown-once.tsx'
import { useChange } from './use-change.ts'

type SiteKey = ResultFrom<'site_keys.list'>['items'][number]
const LIST = ['site_keys.list'] as const

/** The keys with which the pages of web sites call one agent. */
export function SiteKeys() {
  const api = useApi()
  const { text } = useTexts()
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const revoke = useChange([...LIST], (site_key_id: string) => api.siteKeys.revoke({ params: { site_key_id } }))
  const columns: readonly Column<SiteKey>[] = [
    {
      header: text('agents.name'),
      cell: key => (
        <span className="agent-link">
          <strong>{key.name}</strong>
          <span className="code hint">{key.prefix}…</span>
        </span>
      ),
    },
    { header: text('run.agent'), cell: key => <span className="name">{key.agent_id}</span> },
    { header: text('siteKeys.origins'), cell: key => <span className="code">{key.origins.join(' ')}</span> },
    { header: text('siteKeys.concurrent'), cell: key => key.concurrent_limit, isNumber: true },
    { header: text('siteKeys.daily'), cell: key => key.daily_limit, isNumber: true },
    {
      header: text('version.action'),
      cell: key =>
        key.revoked_at === null ? (
          <ConfirmButton label={text('keys.revoke')} onConfirm={() => revoke.mutate(key.site_key_id)} />
        ) : (
          <Badge tone="bad">{text('keys.revoked')}</Badge>
        ),
    },
  ]
  return (
    <Section
      title={text('siteKeys.title')}
      actions={
        <button type="button" className="button small" onClick={() => setCreating(true)}>
          <Icon name="plus" size={16} />
          {text('siteKeys.new')}
        </button>
      }
    >
      <p className="hint">{text('siteKeys.hint')}</p>
      {revoke.isError && <Fault error={revoke.error} />}
      <PagedTable
        caption={text('siteKeys.title')}
        columns={columns}
        keyOf={key => key.site_key_id}
        queryKey={LIST}
        load={async (cursor, signal) => {
          const page = await api.siteKeys.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('keys.empty')}
      />
      {isCreating && (
        <NewSiteKey
          onClose={() => setCreating(false)}
          onCreated={created => {
            setCreating(false)
            setSecret(created)
          }}
        />
      )}
      {secret !== null && <ShownOnce secret={secret} onClose={() => setSecret(null)} />}
    </Section>
  )
}

interface NewSiteKeyProps {
  readonly onClose: () => void
  readonly onCreated: (secret: string) => void
}

function NewSiteKey({ onClose, onCreated }: NewSiteKeyProps) {
  const api = useApi()
  const { text } = useTexts()
  const { data } = useAgentNames()
  const create = useChange([...LIST], (form: FormData) =>
    api.siteKeys.create({
      body: {
        name: String(form.get('name')).trim(),
        agent_id: String(form.get('agent_id')),
        origins: String(form.get('origins')).split(/\s+/).filter(Boolean),
        concurrent_limit: Number(form.get('concurrent_limit')),
        daily_limit: Number(form.get('daily_limit')),
      },
    }),
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await create.mutateAsync(new FormData(event.currentTarget)).then(
      ({ secret }) => onCreated(secret),
      () => {},
    )
  }
  const agents = data?.agents.map(({ ref, name }) => [ref.id, name] as const) ?? []
  return (
    <Dialog title={text('siteKeys.new')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label={text('agents.name')} name="name" required maxLength={128} />
        <SelectField label={text('run.agent')} name="agent_id" choices={agents} />
        <TextArea
          label={text('siteKeys.originsField')}
          name="origins"
          rows={3}
          required
          placeholder="https://clinic.example"
        />
        <TextField
          label={text('siteKeys.concurrent')}
          name="concurrent_limit"
          type="number"
          min={1}
          max={1000}
          defaultValue={5}
          required
        />
        <TextField
          label={text('siteKeys.daily')}
          name="daily_limit"
          type="number"
          min={1}
          max={100_000}
          defaultValue={100}
          required
        />
        <FormActions label={text('agents.create')} isPending={create.isPending} error={create.error} />
      </form>
    </Dialog>
  )
}
