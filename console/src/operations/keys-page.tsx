import type { ResultFrom } from '@parley/client'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Fault, PageHead } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { ShownOnce } from './shown-once.tsx'
import { SiteKeys } from './site-keys.tsx'
import { useChange } from './use-change.ts'

type ApiKey = ResultFrom<'keys.list'>['items'][number]
const ROLES = ['viewer', 'member', 'admin'] as const

/** The API keys of the environment, and the keys of its sites. A secret is shown once. */
export function KeysPage() {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const revoke = useChange(['keys.list'], (key_id: string) => api.keys.revoke({ params: { key_id } }))
  const rotate = useChange(['keys.list'], async (key_id: string) =>
    setSecret((await api.keys.rotate({ params: { key_id }, body: {} })).secret),
  )
  const at = (time: string | null) => (time === null ? '–' : dateTime(time))
  const columns: readonly Column<ApiKey>[] = [
    {
      header: text('agents.name'),
      cell: key => (
        <span className="agent-link">
          <strong>{key.name}</strong>
          <span className="code hint">{key.prefix}…</span>
        </span>
      ),
    },
    {
      header: text('keys.role'),
      cell: key => (
        <span className="badges">
          <Badge tone={key.role === 'admin' ? 'warn' : 'neutral'}>{word('role', key.role)}</Badge>
          {key.can_dial && <Badge tone="neutral">{text('keys.canDial')}</Badge>}
          {key.revoked_at !== null && <Badge tone="bad">{text('keys.revoked')}</Badge>}
        </span>
      ),
    },
    { header: text('keys.lastUsed'), cell: key => at(key.last_used_at) },
    { header: text('keys.expires'), cell: key => at(key.expires_at) },
    {
      header: text('version.action'),
      cell: key =>
        key.revoked_at === null && (
          <span className="badges">
            <ConfirmButton label={text('keys.rotate')} onConfirm={() => rotate.mutate(key.key_id)} />
            <ConfirmButton label={text('keys.revoke')} onConfirm={() => revoke.mutate(key.key_id)} />
          </span>
        ),
    },
  ]
  return (
    <>
      <PageHead title={text('nav.keys')} lead={text('keys.lead')}>
        <button type="button" className="button primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          {text('keys.new')}
        </button>
      </PageHead>
      {revoke.isError && <Fault error={revoke.error} />}
      {rotate.isError && <Fault error={rotate.error} />}
      <PagedTable
        caption={text('nav.keys')}
        columns={columns}
        keyOf={key => key.key_id}
        queryKey={['keys.list']}
        load={async (cursor, signal) => {
          const page = await api.keys.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('keys.empty')}
      />
      <SiteKeys />
      {isCreating && (
        <NewKey
          onClose={() => setCreating(false)}
          onCreated={created => {
            setCreating(false)
            setSecret(created)
          }}
        />
      )}
      {secret !== null && <ShownOnce secret={secret} onClose={() => setSecret(null)} />}
    </>
  )
}

function NewKey({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void
  readonly onCreated: (secret: string) => void
}) {
  const api = useApi()
  const { text, word } = useTexts()
  const [role, setRole] = useState<(typeof ROLES)[number]>('member')
  const create = useChange(['keys.list'], (form: FormData) =>
    api.keys.create({
      body: {
        name: String(form.get('name')).trim(),
        role,
        can_dial: role !== 'viewer' && form.get('can_dial') === 'on',
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
  return (
    <Dialog title={text('keys.new')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label={text('agents.name')} name="name" required maxLength={128} />
        <SelectField
          label={text('keys.role')}
          value={role}
          onChange={event => setRole(ROLES.find(known => known === event.target.value) ?? 'viewer')}
          choices={ROLES.map(known => [known, word('role', known)] as const)}
        />
        {role === 'member' && <CheckField label={text('keys.mayDial')} name="can_dial" />}
        <FormActions label={text('agents.create')} isPending={create.isPending} error={create.error} />
      </form>
    </Dialog>
  )
}
