import type { ResultFrom } from '@parley/client'
import type { ComponentProps } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { AgentName } from '../runs/agent-name.tsx'
import { useAgentNames } from '../runs/use-agent-names.ts'
import { Icon } from '../shell/icon.tsx'
import { SelectField, TextArea, TextField } from '../ui/fields.tsx'
import { Section } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { KeyForm, KeyList } from './key-list.tsx'

type SiteKey = ResultFrom<'site_keys.list'>['items'][number]
const LIST = ['site_keys.list'] as const

/** The keys with which the pages of web sites call one agent. */
export function SiteKeys() {
  const api = useApi()
  const { text } = useTexts()
  const columns: readonly Column<SiteKey>[] = [
    {
      header: text('run.agent'),
      cell: key => (
        <span className="name">
          <AgentName agentId={key.agent_id} />
        </span>
      ),
    },
    { header: text('siteKeys.origins'), cell: key => <span className="code">{key.origins.join(' ')}</span> },
    { header: text('siteKeys.concurrent'), cell: key => key.concurrent_limit, isNumber: true },
    { header: text('siteKeys.daily'), cell: key => key.daily_limit, isNumber: true },
  ]
  return (
    <KeyList
      caption={text('siteKeys.title')}
      list={LIST}
      load={async (cursor, signal) => {
        const page = await api.siteKeys.list({ query: { cursor } }, { signal })
        return { rows: page.items, next: page.next_cursor }
      }}
      columns={columns}
      keyOf={({ site_key_id }) => site_key_id}
      revoke={({ site_key_id }) => api.siteKeys.revoke({ params: { site_key_id } })}
      frame={(list, add) => (
        <Section
          title={text('siteKeys.title')}
          actions={
            <button type="button" className="button small" onClick={add}>
              <Icon name="plus" size={16} />
              {text('siteKeys.new')}
            </button>
          }
        >
          <p className="hint">{text('siteKeys.hint')}</p>
          {list}
        </Section>
      )}
      form={props => <NewSiteKey {...props} />}
    />
  )
}

function NewSiteKey(props: Pick<ComponentProps<typeof KeyForm>, 'onClose' | 'onCreated'>) {
  const api = useApi()
  const { text } = useTexts()
  const { data } = useAgentNames()
  const create = (name: string, form: FormData) =>
    api.siteKeys.create({
      body: {
        name,
        agent_id: String(form.get('agent_id')),
        origins: String(form.get('origins')).split(/\s+/).filter(Boolean),
        concurrent_limit: Number(form.get('concurrent_limit')),
        daily_limit: Number(form.get('daily_limit')),
      },
    })
  const agents = data?.agents.map(({ ref, name }) => [ref.id, name] as const) ?? []
  return (
    <KeyForm {...props} title={text('siteKeys.new')} list={LIST} create={create}>
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
    </KeyForm>
  )
}
