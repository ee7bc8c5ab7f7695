import type { ResultFrom } from '@parley/client'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Fault, PageHead } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

type ProviderKey = ResultFrom<'provider_keys.list'>['items'][number]
type Provider = ProviderKey['provider']

const LIST = ['provider_keys.list']
const PROVIDERS: readonly Provider[] = [
  'openai',
  'anthropic',
  'gemini',
  'deepgram',
  'assemblyai',
  'soniox',
  'speechmatics',
  'azure',
  'elevenlabs',
  'cartesia',
  'openai_compatible',
]

/** The environment's own keys of model and speech services, which new runs use. */
export function ProviderKeysPage() {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const [edited, setEdited] = useState<ProviderKey | 'new' | null>(null)
  const remove = useChange(LIST, (provider: Provider) => api.providerKeys.delete({ params: { provider } }))
  const columns: readonly Column<ProviderKey>[] = [
    { header: text('providerKey.service'), cell: ({ provider }) => <strong>{word('provider', provider)}</strong> },
    {
      header: text('providerKey.key'),
      cell: ({ last4 }) => <span className="code">{last4 === '' ? text('providerKey.short') : `… ${last4}`}</span>,
    },
    { header: text('providerKey.endpoint'), cell: ({ endpoint }) => endpoint ?? '–' },
    { header: text('providerKey.checked'), cell: ({ checked_at }) => dateTime(checked_at) },
    {
      header: text('version.action'),
      cell: key => (
        <span className="badges">
          <button type="button" className="button small" onClick={() => setEdited(key)}>
            {text('providerKey.replace')}
          </button>
          <ConfirmButton label={text('action.delete')} onConfirm={() => remove.mutate(key.provider)} />
        </span>
      ),
    },
  ]
  return (
    <>
      <PageHead title={text('nav.provider-keys')} lead={text('providerKey.lead')}>
        <button type="button" className="button primary" onClick={() => setEdited('new')}>
          <Icon name="plus" />
          {text('providerKey.put')}
        </button>
      </PageHead>
      {remove.isError && <Fault error={remove.error} />}
      <PagedTable
        caption={text('nav.provider-keys')}
        columns={columns}
        keyOf={({ provider }) => provider}
        queryKey={LIST}
        load={async (cursor, signal) => {
          const page = await api.providerKeys.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('providerKey.empty')}
      />
      {edited !== null && <KeyForm known={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </>
  )
}

interface KeyFormProps {
  /** The key to replace; null: a new one. */
  readonly known: ProviderKey | null
  readonly onClose: () => void
}

function KeyForm({ known, onClose }: KeyFormProps) {
  const api = useApi()
  const { text, word } = useTexts()
  const [provider, setProvider] = useState<Provider>(known?.provider ?? 'openai')
  const put = useChange(LIST, (form: FormData) =>
    api.providerKeys.put({
      params: { provider },
      body: {
        key: String(form.get('key')).trim(),
        ...(provider === 'openai_compatible' && { endpoint: String(form.get('endpoint')).trim() }),
      },
    }),
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await put.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => {})
  }
  return (
    <Dialog title={known === null ? text('providerKey.put') : word('provider', known.provider)} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        {known === null && (
          <SelectField
            label={text('providerKey.service')}
            value={provider}
            onChange={event => setProvider(PROVIDERS.find(name => name === event.target.value) ?? 'openai')}
            choices={PROVIDERS.map(name => [name, word('provider', name)] as const)}
          />
        )}
        {provider === 'openai_compatible' && (
          <TextField
            label={text('providerKey.endpoint')}
            name="endpoint"
            type="url"
            required
            maxLength={2048}
            defaultValue={known?.endpoint ?? ''}
          />
        )}
        <TextField label={text('providerKey.key')} name="key" type="password" required maxLength={4096} />
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
