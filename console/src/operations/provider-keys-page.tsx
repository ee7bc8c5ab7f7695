import type { ResultFrom } from '@parley/client'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { CredentialForm, CredentialList } from './credential-list.tsx'

type ProviderKey = ResultFrom<'provider_keys.list'>['items'][number]
type Provider = ProviderKey['provider']

const LIST = ['provider_keys.list'] as const
/** The services of the contract, in the order of the list: one that is missing here does not compile. */
const PROVIDERS = Object.keys({
  openai: true,
  anthropic: true,
  gemini: true,
  deepgram: true,
  assemblyai: true,
  soniox: true,
  speechmatics: true,
  azure: true,
  google: true,
  elevenlabs: true,
  cartesia: true,
  openai_compatible: true,
} satisfies Record<Provider, true>) as readonly Provider[]

/** The environment's own keys of model and speech services, which new runs use. */
export function ProviderKeysPage() {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  return (
    <CredentialList<ProviderKey>
      title={text('nav.provider-keys')}
      lead={text('providerKey.lead')}
      empty={text('providerKey.empty')}
      labels={{ add: text('providerKey.put'), replace: text('providerKey.replace') }}
      list={LIST}
      load={async (cursor, signal) => {
        const page = await api.providerKeys.list({ query: { cursor } }, { signal })
        return { rows: page.items, next: page.next_cursor }
      }}
      columns={[
        { header: text('providerKey.service'), cell: ({ provider }) => <strong>{word('provider', provider)}</strong> },
        {
          header: text('providerKey.key'),
          cell: ({ last4 }) => <span className="code">{last4 === '' ? text('providerKey.short') : `… ${last4}`}</span>,
        },
        { header: text('providerKey.endpoint'), cell: ({ endpoint }) => endpoint ?? '–' },
        { header: text('providerKey.checked'), cell: ({ checked_at }) => dateTime(checked_at) },
      ]}
      keyOf={({ provider }) => provider}
      remove={({ provider }) => api.providerKeys.delete({ params: { provider } })}
      form={(key, onClose) => <KeyForm known={key} onClose={onClose} />}
    />
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
  const put = (form: FormData) =>
    api.providerKeys.put({
      params: { provider },
      body: {
        key: String(form.get('value')).trim(),
        ...(provider === 'openai_compatible' && { endpoint: String(form.get('endpoint')).trim() }),
      },
    })
  return (
    <CredentialForm
      title={known === null ? text('providerKey.put') : word('provider', known.provider)}
      value={{ label: text('providerKey.key'), maxLength: 4096 }}
      list={LIST}
      put={put}
      onClose={onClose}
    >
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
    </CredentialForm>
  )
}
