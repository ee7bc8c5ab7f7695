import type { ResultFrom } from '@parley/client'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Badge, PageHead, type Tone } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'

type AuditItem = ResultFrom<'audit.list'>['items'][number]

const TONES: Readonly<Record<AuditItem['outcome'], Tone>> = { allowed: 'good', denied: 'warn', failed: 'bad' }

/** Who did what in this environment. */
export function AuditPage() {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const columns: readonly Column<AuditItem>[] = [
    { header: text('audit.action'), cell: item => <strong className="code">{item.action}</strong> },
    { header: text('effects.at'), cell: item => <time dateTime={item.occurred_at}>{dateTime(item.occurred_at)}</time> },
    {
      header: text('audit.by'),
      cell: item => (
        <span>
          {word('principal', item.principal.kind)} <span className="code hint">{item.principal.id.slice(0, 18)}</span>
        </span>
      ),
    },
    {
      header: text('audit.resource'),
      cell: item =>
        item.resource === null ? '–' : <span className="code">{`${item.resource.kind} ${item.resource.id}`}</span>,
    },
    {
      header: text('audit.outcome'),
      cell: item => <Badge tone={TONES[item.outcome]}>{word('auditOutcome', item.outcome)}</Badge>,
    },
  ]
  return (
    <>
      <PageHead title={text('nav.audit')} lead={text('audit.lead')} />
      <PagedTable
        caption={text('nav.audit')}
        columns={columns}
        keyOf={item => item.audit_id}
        queryKey={['audit.list']}
        load={async (cursor, signal) => {
          const page = await api.audit.list({ query: { cursor } }, { signal })
          return { rows: page.items, next: page.next_cursor }
        }}
        empty={text('audit.empty')}
      />
    </>
  )
}
