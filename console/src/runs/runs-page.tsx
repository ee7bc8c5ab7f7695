import { useId } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link, useSearch } from '../router.tsx'
import { clock } from '../ui/duration.ts'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, PageHead } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { AgentName } from './agent-name.tsx'
import { CallAgentButtons } from './call-agent.tsx'
import {
  CHANNELS,
  CONTACTS,
  type FilterName,
  filtersOf,
  localDayStart,
  runsQuery,
  STATES,
  withFilter,
} from './filters.ts'
import { ChannelIcon, farEnd, type Run, StateBadge } from './run-words.tsx'
import { useAgentNames } from './use-agent-names.ts'

/** The list of runs with the filters of the API, which the address holds. */
export function RunsPage() {
  const api = useApi()
  const { text } = useTexts()
  const [search, setSearch] = useSearch()
  const filters = filtersOf(search)
  const query = runsQuery(filters, localDayStart)
  const columns = useRunColumns()
  return (
    <>
      <PageHead title={text('nav.runs')} lead={text('runs.lead')}>
        <CallAgentButtons />
      </PageHead>
      <FilterBar values={filters} onChange={(name, value) => setSearch(withFilter(search, name, value))} />
      <PagedTable
        caption={text('nav.runs')}
        columns={columns}
        keyOf={run => run.run_id}
        queryKey={['runs.list', query]}
        load={async (cursor, signal) => {
          const page = await api.runs.list({ query: { ...query, limit: 50, cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('runs.empty')}
      />
    </>
  )
}

function useRunColumns(): readonly Column<Run>[] {
  const { text, word, dateTime, shortTime } = useTexts()
  return [
    {
      header: text('run.with'),
      cell: run => (
        <Link to={{ page: 'run', runId: run.run_id }} className="run-link">
          <ChannelIcon run={run} />
          <span>{farEnd(run) ?? word('mode', run.mode)}</span>
        </Link>
      ),
    },
    {
      header: text('run.agent'),
      cell: run => (
        <span className="name">
          <AgentName agentId={run.agent_id} />
        </span>
      ),
    },
    {
      header: text('run.state'),
      cell: run => (
        <span className="badges">
          <StateBadge run={run} />
          {run.test && <Badge tone="neutral">{text('run.test')}</Badge>}
        </span>
      ),
    },
    {
      header: text('run.disposition'),
      cell: run => (run.disposition === null ? '–' : word('disposition', run.disposition)),
    },
    { header: text('run.started'), cell: run => <time dateTime={run.created_at}>{dateTime(run.created_at)}</time> },
    { header: text('run.duration'), cell: run => clock(run.connected_ms), isNumber: true },
    { header: text('run.answer'), cell: run => shortTime(run.latency?.e2e?.p50 ?? null), isNumber: true },
  ]
}

interface FilterBarProps {
  readonly values: Readonly<Partial<Record<FilterName, string>>>
  readonly onChange: (name: FilterName, value: string) => void
}

function FilterBar({ values, onChange }: FilterBarProps) {
  const { text, word } = useTexts()
  const agents = useAgentNames()
  const names = agents.data?.agents.map(agent => [agent.ref.id, agent.name] as const) ?? []
  const known = values.agent_id === undefined || names.some(([id]) => id === values.agent_id)
  const options = (group: string, all: readonly string[]) => all.map(value => [value, word(group, value)] as const)
  const bool = (yes: string, no: string) => [['true', yes] as const, ['false', no] as const]
  const select = (name: FilterName, label: string, choices: readonly (readonly [string, string])[]) => (
    <SelectFilter
      key={name}
      label={label}
      value={values[name] ?? ''}
      choices={choices}
      onChange={value => onChange(name, value)}
    />
  )
  return (
    <form className="filters" aria-label={text('filter.title')} onSubmit={event => event.preventDefault()}>
      {select('agent_id', text('run.agent'), known ? names : [...names, [values.agent_id!, values.agent_id!]])}
      {select('channel', text('filter.channel'), options('channel', CHANNELS))}
      {select('state', text('run.state'), options('runState', STATES))}
      {select('contact', text('filter.contact'), options('contact', CONTACTS))}
      {select('successful', text('filter.successful'), bool(text('filter.yes'), text('filter.no')))}
      {select('test', text('filter.test'), bool(text('filter.onlyTests'), text('filter.noTests')))}
      <TextFilter
        label={text('run.disposition')}
        value={values.disposition ?? ''}
        onChange={value => onChange('disposition', value)}
      />
      <TextFilter
        label={text('filter.after')}
        type="date"
        value={values.after ?? ''}
        onChange={value => onChange('after', value)}
      />
      <TextFilter
        label={text('filter.before')}
        type="date"
        value={values.before ?? ''}
        onChange={value => onChange('before', value)}
      />
    </form>
  )
}

interface FilterProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function SelectFilter({
  label,
  value,
  choices,
  onChange,
}: FilterProps & { readonly choices: readonly (readonly [string, string])[] }) {
  const { text } = useTexts()
  const id = useId()
  return (
    <div className={value === '' ? 'filter' : 'filter set'}>
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} data-filter onChange={event => onChange(event.target.value)}>
        <option value="">{text('filter.all')}</option>
        {choices.map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

function TextFilter({ label, value, onChange, type = 'text' }: FilterProps & { readonly type?: 'text' | 'date' }) {
  const id = useId()
  return (
    <div className={value === '' ? 'filter' : 'filter set'}>
      <label htmlFor={id}>{label}</label>
      <input id={id} type={type} value={value} onChange={event => onChange(event.target.value)} />
    </div>
  )
}
