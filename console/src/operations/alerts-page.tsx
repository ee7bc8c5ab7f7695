import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { Badge, Empty, Fault, Loading, PageHead } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { AlertDestinations } from './alert-destinations.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

type Rule = ResultFrom<'alerts.list'>['items'][number]
const METRICS = [
  'spend_usd_per_hour',
  'p95_latency_ms_1h',
  'call_error_rate_24h',
  'recording_failure_rate_24h',
] as const
const KINDS = ['chat', 'paging', 'webhook'] as const
const LIST = ['alerts.list']

/** Alert rules with their last evaluation and notification, and where notifications go. */
export function AlertsPage() {
  const api = useApi()
  const { text } = useTexts()
  const [isCreating, setCreating] = useState(false)
  const alerts = useQuery({
    queryKey: LIST,
    queryFn: ({ signal }) => api.alerts.list({}, { signal }),
    refetchInterval: 30_000,
  })
  return (
    <>
      <PageHead title={text('nav.alerts')} lead={text('alerts.lead')}>
        <button type="button" className="button primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          {text('alerts.new')}
        </button>
      </PageHead>
      {alerts.isPending && <Loading />}
      {alerts.isError && <Fault error={alerts.error} />}
      <div className="stack">
        {alerts.data?.items.length === 0 && <Empty>{text('alerts.empty')}</Empty>}
        {alerts.data !== undefined && alerts.data.items.length > 0 && <Rules rules={alerts.data.items} />}
        <AlertDestinations />
      </div>
      {isCreating && <NewRule onClose={() => setCreating(false)} />}
    </>
  )
}

function Rules({ rules }: { readonly rules: readonly Rule[] }) {
  const api = useApi()
  const { text, word, dateTime } = useTexts()
  const remove = useChange(LIST, (rule: Rule) =>
    api.alerts.delete({ params: { alert_id: rule.id }, query: { expected_revision: rule.revision } }),
  )
  const acknowledge = useChange(LIST, ({ rule, delivery }: { rule: Rule; delivery: string }) =>
    api.alerts.acknowledge({
      params: { alert_id: rule.id },
      body: { expected_revision: rule.revision, delivery_id: delivery },
    }),
  )
  const columns: readonly Column<Rule>[] = [
    { header: text('alerts.metric'), cell: rule => <strong>{word('metric', rule.metric)}</strong> },
    { header: text('alerts.threshold'), cell: rule => rule.threshold, isNumber: true },
    { header: text('alerts.value'), cell: rule => <Evaluation rule={rule} /> },
    { header: text('alerts.destination'), cell: rule => word('alertKind', rule.destination.kind) },
    {
      header: text('alerts.latest'),
      cell: ({ latest_delivery: latest }) =>
        latest === null ? '–' : `${dateTime(latest.created_at)} · ${word('delivery', latest.status)}`,
    },
    {
      header: text('version.action'),
      cell: rule => (
        <span className="badges">
          {rule.blocked_by_delivery_id !== null && (
            <button
              type="button"
              className="button small"
              onClick={() => acknowledge.mutate({ rule, delivery: rule.blocked_by_delivery_id! })}
            >
              {text('alerts.acknowledge')}
            </button>
          )}
          <ConfirmButton label={text('action.delete')} onConfirm={() => remove.mutate(rule)} />
        </span>
      ),
    },
  ]
  return (
    <>
      {remove.isError && <Fault error={remove.error} />}
      {acknowledge.isError && <Fault error={acknowledge.error} />}
      <Table caption={text('nav.alerts')} columns={columns} rows={rules} keyOf={rule => rule.id} />
    </>
  )
}

function Evaluation({ rule }: { readonly rule: Rule }) {
  const { text, word } = useTexts()
  const { status, value, reason } = rule.evaluation
  if (!rule.enabled) return <Badge tone="neutral">{text('alerts.disabled')}</Badge>
  if (status === 'pending') return <Badge tone="neutral">{text('alerts.pending')}</Badge>
  if (value === null) return <span className="hint">{word('alertReason', reason ?? '')}</span>
  return <Badge tone={Number(value) > Number(rule.threshold) ? 'bad' : 'good'}>{value}</Badge>
}

function NewRule({ onClose }: { readonly onClose: () => void }) {
  const api = useApi()
  const { text, word } = useTexts()
  const [kind, setKind] = useState<(typeof KINDS)[number]>('chat')
  const create = useChange(LIST, (form: FormData) =>
    api.alerts.create({
      body: {
        rule: {
          metric: METRICS.find(metric => metric === form.get('metric')) ?? 'call_error_rate_24h',
          threshold: String(form.get('threshold')).trim(),
          enabled: true,
          destination: kind === 'webhook' ? { kind, url: String(form.get('url')).trim() } : { kind },
        },
      },
    }),
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await create.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => {})
  }
  return (
    <Dialog title={text('alerts.new')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <SelectField
          label={text('alerts.metric')}
          name="metric"
          choices={METRICS.map(name => [name, word('metric', name)] as const)}
        />
        <TextField
          label={text('alerts.threshold')}
          name="threshold"
          required
          inputMode="decimal"
          pattern="(0|[1-9][0-9]*)(\.[0-9]{1,12})?"
        />
        <SelectField
          label={text('alerts.destination')}
          value={kind}
          onChange={event => setKind(KINDS.find(known => known === event.target.value) ?? 'chat')}
          choices={KINDS.map(name => [name, word('alertKind', name)] as const)}
        />
        {kind === 'webhook' && <TextField label={text('alerts.url')} name="url" type="url" required maxLength={4096} />}
        {create.isError && <Fault error={create.error} />}
        <div className="form-actions">
          <button type="submit" className="button primary" disabled={create.isPending}>
            {text('agents.create')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
