import type { ResultFrom } from '@parley/client'
import { type ComponentProps, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { CheckField, SelectField } from '../ui/fields.tsx'
import { Badge, PageHead } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { KeyForm, KeyList } from './key-list.tsx'
import { SiteKeys } from './site-keys.tsx'

type ApiKey = ResultFrom<'keys.list'>['items'][number]
const LIST = ['keys.list'] as const
const ROLES = ['viewer', 'member', 'admin'] as const

/** The API keys of the environment, and the keys of its sites. */
export function KeysPage() {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const at = (time: string | null) => (time === null ? '–' : dateTime(time))
  const columns: readonly Column<ApiKey>[] = [
    {
      header: text('keys.role'),
      cell: key => (
        <span className="badges">
          <Badge tone={key.role === 'admin' ? 'warn' : 'neutral'}>{word('role', key.role)}</Badge>
          {key.can_dial && <Badge tone="neutral">{text('keys.canDial')}</Badge>}
        </span>
      ),
    },
    { header: text('keys.lastUsed'), cell: key => at(key.last_used_at) },
    { header: text('keys.expires'), cell: key => at(key.expires_at) },
  ]
  return (
    <KeyList
      caption={text('nav.keys')}
      list={LIST}
      load={async (cursor, signal) => {
        const page = await api.keys.list({ query: { cursor } }, { signal })
        return { rows: page.items, next: page.next_cursor }
      }}
      columns={columns}
      keyOf={({ key_id }) => key_id}
      revoke={({ key_id }) => api.keys.revoke({ params: { key_id } })}
      rotate={({ key_id }) => api.keys.rotate({ params: { key_id }, body: {} })}
      frame={(list, add) => (
        <>
          <PageHead title={text('nav.keys')} lead={text('keys.lead')}>
            <button type="button" className="button primary" onClick={add}>
              <Icon name="plus" />
              {text('keys.new')}
            </button>
          </PageHead>
          <div className="stack">
            {list}
            <SiteKeys />
          </div>
        </>
      )}
      form={props => <NewKey {...props} />}
    />
  )
}

function NewKey(props: Pick<ComponentProps<typeof KeyForm>, 'onClose' | 'onCreated'>) {
  const api = useApi()
  const { text, word } = useTexts()
  const [role, setRole] = useState<(typeof ROLES)[number]>('member')
  return (
    <KeyForm
      {...props}
      title={text('keys.new')}
      list={LIST}
      create={(name, form) =>
        api.keys.create({ body: { name, role, can_dial: role !== 'viewer' && form.get('can_dial') === 'on' } })
      }
    >
      <SelectField
        label={text('keys.role')}
        value={role}
        onChange={event => setRole(ROLES.find(known => known === event.target.value) ?? 'viewer')}
        choices={ROLES.map(known => [known, word('role', known)] as const)}
      />
      {role === 'member' && <CheckField label={text('keys.mayDial')} name="can_dial" />}
    </KeyForm>
  )
}
