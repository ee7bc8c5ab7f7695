import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link } from '../router.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, Fault, PageHead, Section } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { CallLimit } from './call-limit.tsx'
import { NewNumber } from './new-number.tsx'
import { NewTrunk } from './new-trunk.tsx'
import { TrunkSummary } from './trunk-summary.tsx'
import { useChange } from './use-change.ts'

type Trunk = ResultFrom<'trunks.list'>['items'][number]
type PhoneNumber = ResultFrom<'numbers.list'>['items'][number]

/** Trunks with their health, numbers with the agents that answer them, and the daily limit of calls. */
export function TelephonyPage() {
  const api = useApi()
  const { text } = useTexts()
  const trunkColumns: readonly Column<Trunk>[] = [
    {
      header: text('trunk.trunk'),
      cell: trunk => (
        <Link to={{ page: 'trunk', trunkId: trunk.trunk_id }} className="agent-link">
          <strong>{trunk.name}</strong>
          <span className="code hint">{trunk.trunk_id}</span>
        </Link>
      ),
    },
    { header: text('trunk.address'), cell: trunk => <span className="code">{trunk.termination_uri}</span> },
    {
      header: text('trunk.inbound'),
      cell: trunk => (
        <Badge tone={trunk.inbound ? 'good' : 'neutral'}>{text(trunk.inbound ? 'filter.yes' : 'filter.no')}</Badge>
      ),
    },
    { header: text('trunk.health'), cell: trunk => <TrunkSummary trunkId={trunk.trunk_id} /> },
  ]
  return (
    <>
      <PageHead title={text('nav.telephony')} lead={text('telephony.lead')} />
      <div className="stack">
        <Section title={text('trunk.title')} actions={<NewTrunk />}>
          <PagedTable
            caption={text('trunk.title')}
            columns={trunkColumns}
            keyOf={trunk => trunk.trunk_id}
            queryKey={['trunks.list']}
            load={async (cursor, signal) => {
              const page = await api.trunks.list({ query: { cursor } }, { signal })
              return { rows: page.items, next: page.next_cursor }
            }}
            empty={text('trunk.empty')}
          />
        </Section>
        <Numbers />
        <CallLimit />
      </div>
    </>
  )
}

function Numbers() {
  const api = useApi()
  const { text } = useTexts()
  const agents = useQuery({
    queryKey: ['agents.list', 'names'],
    queryFn: ({ signal }) => api.agents.list({ query: { limit: 200, sort: 'name_asc' } }, { signal }),
  })
  const assign = useChange(['numbers.list'], ({ number, agent }: { number: string; agent: string | null }) =>
    api.numbers.assign({ params: { number_id: number }, body: { agent_id: agent } }),
  )
  const choices = (number: PhoneNumber) => {
    const names =
      agents.data?.agents.filter(({ head }) => head !== null).map(({ ref, name }) => [ref.id, name] as const) ?? []
    const assigned = number.assignment?.agent_id
    return assigned === undefined || names.some(([id]) => id === assigned)
      ? names
      : [...names, [assigned, assigned] as const]
  }
  const columns: readonly Column<PhoneNumber>[] = [
    { header: text('number.number'), cell: number => <strong className="figures">{number.phone_number}</strong> },
    { header: text('agents.name'), cell: number => number.name ?? '–' },
    { header: text('trunk.trunk'), cell: number => <span className="code">{number.trunk_id}</span> },
    {
      header: text('number.answers'),
      cell: number => (
        <select
          aria-label={`${text('number.answers')}: ${number.phone_number}`}
          value={number.assignment?.agent_id ?? ''}
          disabled={assign.isPending}
          onChange={event => assign.mutate({ number: number.number_id, agent: event.target.value || null })}
        >
          <option value="">{text('number.nobody')}</option>
          {choices(number).map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      ),
    },
  ]
  return (
    <Section title={text('number.title')} actions={<NewNumber />}>
      {assign.isError && <Fault error={assign.error} />}
      <PagedTable
        caption={text('number.title')}
        columns={columns}
        keyOf={number => number.number_id}
        queryKey={['numbers.list']}
        load={async (cursor, signal) => {
          const page = await api.numbers.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('number.empty')}
      />
    </Section>
  )
}
