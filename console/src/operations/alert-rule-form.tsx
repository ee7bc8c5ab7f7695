import type { ResultFrom } from '@parley/client'
import { type FormEvent, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'
import { useChange } from './use-change.ts'

export type Rule = ResultFrom<'alerts.list'>['items'][number]
export const LIST = ['alerts.list']

const METRICS = [
  'spend_usd_per_hour',
  'p95_latency_ms_1h',
  'call_error_rate_24h',
  'recording_failure_rate_24h',
] as const
const KINDS = ['chat', 'paging', 'webhook'] as const

interface AlertRuleFormProps {
  /** The rule to change; null: a new one. */
  readonly rule: Rule | null
  readonly onClose: () => void
}

/** Creates or changes an alert rule. The destination of a changed rule stays unless another one is chosen. */
export function AlertRuleForm({ rule, onClose }: AlertRuleFormProps) {
  const api = useApi()
  const { text, word } = useTexts()
  const [kind, setKind] = useState<(typeof KINDS)[number] | 'keep'>(rule === null ? 'chat' : 'keep')
  const save = useChange(LIST, (form: FormData) => {
    const fields = {
      metric: METRICS.find(metric => metric === form.get('metric')) ?? 'call_error_rate_24h',
      threshold: String(form.get('threshold')).trim(),
      enabled: rule === null || form.get('enabled') !== null,
    }
    const url = String(form.get('url') ?? '').trim()
    const value = kind === 'webhook' ? { kind, url } : { kind: kind === 'paging' ? kind : ('chat' as const) }
    if (rule === null) return api.alerts.create({ body: { rule: { ...fields, destination: value } } })
    const destination = kind === 'keep' ? { action: kind } : { action: 'replace' as const, value }
    return api.alerts.update({
      params: { alert_id: rule.id },
      body: { expected_revision: rule.revision, rule: { ...fields, destination } },
    })
  })
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    await save.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => {})
  }
  const kinds = KINDS.map(name => [name, word('alertKind', name)] as const)
  const kept =
    rule === null ? [] : [['keep', text('alerts.keep', { kind: word('alertKind', rule.destination.kind) })] as const]
  return (
    <Dialog title={text(rule === null ? 'alerts.new' : 'alerts.editTitle')} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <SelectField
          label={text('alerts.metric')}
          name="metric"
          defaultValue={rule?.metric}
          choices={METRICS.map(name => [name, word('metric', name)] as const)}
        />
        <TextField
          label={text('alerts.threshold')}
          name="threshold"
          required
          inputMode="decimal"
          pattern="(0|[1-9][0-9]*)(\.[0-9]{1,12})?"
          defaultValue={rule?.threshold}
        />
        <SelectField
          label={text('alerts.destination')}
          value={kind}
          onChange={event => setKind(KINDS.find(known => known === event.target.value) ?? 'keep')}
          choices={[...kept, ...kinds]}
        />
        {kind === 'webhook' && <TextField label={text('alerts.url')} name="url" type="url" required maxLength={4096} />}
        {rule !== null && <CheckField label={text('alerts.enabled')} name="enabled" defaultChecked={rule.enabled} />}
        <FormActions
          label={text(rule === null ? 'agents.create' : 'action.save')}
          isPending={save.isPending}
          error={save.error}
        />
      </form>
    </Dialog>
  )
}
