import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'
import { Badge, Empty, Fault, Loading, PageHead } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { AlertDestinations } from './alert-destinations.tsx'
import { AlertRuleForm, LIST, type Rule } from './alert-rule-form.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

/** Alert rules with their last evaluation and notification, and where notifications go. */
export function AlertsPage() {
  const api = useApi()
  const { text } = useTexts()
  const [edited, setEdited] = useState<Rule | 'new' | null>(null)
  const alerts = useQuery({
    queryKey: LIST,
    queryFn: ({ signal }) => api.alerts.list({}, { signal }),
    refetchInterval: 30_000,
  })
  return (
    <>
      <PageHead title={text('nav.alerts')} lead={text('alerts.lead')}>
        <button type="button" className="button primary" onClick={() => setEdited('new')}>
          <Icon name="plus" />
          {text('alerts.new')}
        </button>
      </PageHead>
      {alerts.isPending && <Loading />}
      {alerts.isError && <Fault error={alerts.error} />}
      <div className="stack">
        {alerts.data?.items.length === 0 && <Empty>{text('alerts.empty')}</Empty>}
        {alerts.data !== undefined && alerts.data.items.length > 0 && (
          <Rules rules={alerts.data.items} onEdit={setEdited} />
        )}
        <AlertDestinations />
      </div>
      {edited !== null && <AlertRuleForm rule={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </>
  )
}

interface RulesProps {
  readonly rules: readonly Rule[]
  readonly onEdit: (rule: Rule) => void
}

function Rules({ rules, onEdit }: RulesProps) {
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
          <button type="button" className="button small" onClick={() => onEdit(rule)}>
            {text('alerts.edit')}
          </button>
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
