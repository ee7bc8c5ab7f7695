import type { ResultFrom } from '@parley/client'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Fault, PageHead } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

type Secret = ResultFrom<'secrets.list'>['items'][number]
const KINDS = ['sip_auth', 'http_auth', 'webhook_signing', 'provider_credential'] as const

/** The versioned secrets of trunks, actions and webhooks; their values are never shown. */
export function SecretsPage() {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const [edited, setEdited] = useState<Pick<Secret, 'secret_id' | 'kind'> | 'new' | null>(null)
  const remove = useChange(['secrets.list'], (secret_id: string) => api.secrets.delete({ params: { secret_id } }))
  const columns: readonly Column<Secret>[] = [
    { header: text('secret.id'), cell: secret => <strong className="code">{secret.secret_id}</strong> },
    { header: text('effects.kind'), cell: secret => <Badge tone="neutral">{word('secretKind', secret.kind)}</Badge> },
    { header: text('version.version'), cell: secret => `${secret.version} (${secret.versions.length})` },
    { header: text('secret.changed'), cell: secret => dateTime(secret.updated_at) },
    {
      header: text('version.action'),
      cell: secret => (
        <span className="badges">
          <button type="button" className="button small" onClick={() => setEdited(secret)}>
            {text('secret.newVersion')}
          </button>
          <ConfirmButton label={text('action.delete')} onConfirm={() => remove.mutate(secret.secret_id)} />
        </span>
      ),
    },
  ]
  return (
    <>
      <PageHead title={text('nav.secrets')} lead={text('secret.lead')}>
        <button type="button" className="button primary" onClick={() => setEdited('new')}>
          <Icon name="plus" />
          {text('secret.new')}
        </button>
      </PageHead>
      {remove.isError && <Fault error={remove.error} />}
      <PagedTable
        caption={text('nav.secrets')}
        columns={columns}
        keyOf={secret => secret.secret_id}
        queryKey={['secrets.list']}
        load={async (cursor, signal) => {
          const page = await api.secrets.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('secret.empty')}
      />
      {edited !== null && <SecretForm secret={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </>
  )
}

interface SecretFormProps {
  /** Null: a new one. */
  readonly secret: Pick<Secret, 'secret_id' | 'kind'> | null
  readonly onClose: () => void
}

function SecretForm({ secret, onClose }: SecretFormProps) {
  const api = useApi()
  const { text, word } = useTexts()
  const put = useChange(['secrets.list'], (form: FormData) =>
    api.secrets.put({
      params: { secret_id: secret?.secret_id ?? String(form.get('id')).trim() },
      body: {
        kind: secret?.kind ?? KINDS.find(kind => kind === form.get('kind')) ?? 'http_auth',
        value: String(form.get('value')),
      },
    }),
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await put.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => {})
  }
  return (
    <Dialog title={secret === null ? text('secret.new') : secret.secret_id} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        {secret === null && (
          <>
            <TextField label={text('secret.id')} name="id" required maxLength={128} />
            <SelectField
              label={text('effects.kind')}
              name="kind"
              choices={KINDS.map(kind => [kind, word('secretKind', kind)] as const)}
            />
          </>
        )}
        <TextField label={text('secret.value')} name="value" type="password" required maxLength={16_384} />
        {put.isError && <Fault error={put.error} />}
        <div className="form-actions">
          <button type="submit" className="button primary" disabled={put.isPending}>
            {text('action.save')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
