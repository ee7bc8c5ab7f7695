import type { ResultFrom } from '@parley/client'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { Badge } from '../ui/parts.tsx'
import { CredentialForm, CredentialList } from './credential-list.tsx'

type Secret = ResultFrom<'secrets.list'>['items'][number]
const KINDS = ['sip_auth', 'http_auth', 'webhook_signing', 'provider_credential'] as const
const LIST = ['secrets.list'] as const

/** The versioned secrets of trunks, actions and webhooks; their values are never shown. */
export function SecretsPage() {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  return (
    <CredentialList<Secret>
      title={text('nav.secrets')}
      lead={text('secret.lead')}
      empty={text('secret.empty')}
      labels={{ add: text('secret.new'), replace: text('secret.newVersion') }}
      list={LIST}
      load={async (cursor, signal) => {
        const page = await api.secrets.list({ query: { cursor } }, { signal })
        return { rows: page.items, next: page.next_cursor }
      }}
      columns={[
        { header: text('secret.id'), cell: ({ secret_id }) => <strong className="code">{secret_id}</strong> },
        { header: text('effects.kind'), cell: ({ kind }) => <Badge tone="neutral">{word('secretKind', kind)}</Badge> },
        {
          header: text('version.version'),
          cell: ({ version, versions }) => text('secret.versionOf', { version, count: versions.length }),
        },
        { header: text('secret.changed'), cell: ({ updated_at }) => dateTime(updated_at) },
      ]}
      keyOf={({ secret_id }) => secret_id}
      remove={({ secret_id }) => api.secrets.delete({ params: { secret_id } })}
      form={(secret, onClose) => <SecretForm secret={secret} onClose={onClose} />}
    />
  )
}

interface SecretFormProps {
  /** Null: a new one. */
  readonly secret: Secret | null
  readonly onClose: () => void
}

function SecretForm({ secret, onClose }: SecretFormProps) {
  const api = useApi()
  const { text, word } = useTexts()
  const put = (form: FormData) =>
    api.secrets.put({
      params: { secret_id: secret?.secret_id ?? String(form.get('id')).trim() },
      body: {
        kind: secret?.kind ?? KINDS.find(kind => kind === form.get('kind')) ?? 'http_auth',
        value: String(form.get('value')),
      },
    })
  return (
    <CredentialForm
      title={secret === null ? text('secret.new') : secret.secret_id}
      value={{ label: text('secret.value'), maxLength: 16_384 }}
      list={LIST}
      put={put}
      onClose={onClose}
    >
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
    </CredentialForm>
  )
}
