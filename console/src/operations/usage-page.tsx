import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useCallback, useMemo, useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { AgentName } from '../runs/agent-name.tsx'
import { SelectField, TextField } from '../ui/fields.tsx'
import { Badge, Facts, Fault, Loading, PageHead, Section } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Plot } from './plot.tsx'
import { type UsageRow, usageDays, usageTotals } from './usage-days.ts'
import { useChange } from './use-change.ts'

const DAY_MS = 86_400_000
const WINDOWS = ['7', '30', '90'] as const

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Usage by day and agent, its cost, and the budget of the month. */
export function UsagePage() {
  const { text } = useTexts()
  const [days, setDays] = useState<string>('30')
  const window = useMemo(() => {
    const today = dayOf(Date.now())
    const start = Date.parse(today) - (Number(days) - 1) * DAY_MS
    return {
      first: dayOf(start),
      last: today,
      from: new Date(start).toISOString(),
      to: new Date(Date.parse(today) + DAY_MS).toISOString(),
    }
  }, [days])
  return (
    <>
      <PageHead title={text('nav.usage')} lead={text('usage.lead')}>
        <SelectField
          label={text('usage.window')}
          value={days}
          onChange={event => setDays(event.target.value)}
          choices={WINDOWS.map(value => [value, text('usage.days', { count: value })] as const)}
        />
      </PageHead>
      <div className="stack">
        <ByDay {...window} />
        <div className="columns">
          <Budget />
          <ByAgent {...window} />
        </div>
      </div>
    </>
  )
}

interface WindowProps {
  readonly first: string
  readonly last: string
  readonly from: string
  readonly to: string
}

function useUsage(group_by: 'day' | 'agent', { from, to }: WindowProps) {
  const api = useApi()
  return useQuery({
    queryKey: ['usage.summary', group_by, from, to],
    queryFn: async ({ signal }) => {
      const rows: UsageRow[] = []
      for await (const row of api.usage.summary.all({ query: { group_by, from, to, limit: 200 } }, { signal }))
        rows.push(row)
      return rows
    },
  })
}

function ByDay(window: WindowProps) {
  const { text, number } = useTexts()
  const usage = useUsage('day', window)
  const { first, last } = window
  const plot = useMemo(() => usageDays(usage.data ?? [], first, last), [usage.data, first, last])
  const whole = useCallback((value: number) => number(value, { maximumFractionDigits: 1 }), [number])
  if (usage.isPending) return <Loading />
  if (usage.isError) return <Fault error={usage.error} />
  const totals = usageTotals(usage.data)
  return (
    <Section title={text('usage.byDay')}>
      <Facts
        rows={[
          [text('nav.runs'), number(totals.runs)],
          [text('usage.minutes'), number(totals.minutes, { maximumFractionDigits: 1 })],
          [text('usage.tokens'), number(totals.tokens)],
          [text('usage.characters'), number(totals.characters)],
        ]}
      />
      <div className="columns plots">
        <figure>
          <figcaption>{text('usage.runsByDay')}</figcaption>
          <Plot label={text('usage.runsByDay')} times={plot.days} values={plot.runs} format={whole} />
        </figure>
        <figure>
          <figcaption>{text('usage.minutesByDay')}</figcaption>
          <Plot label={text('usage.minutesByDay')} times={plot.days} values={plot.minutes} format={whole} />
        </figure>
        {plot.cost.some(cost => (cost ?? 0) > 0) && (
          <figure>
            <figcaption>{text('usage.costByDay')}</figcaption>
            <Plot label={text('usage.costByDay')} times={plot.days} values={plot.cost} format={whole} />
          </figure>
        )}
      </div>
    </Section>
  )
}

function ByAgent(window: WindowProps) {
  const { text, number } = useTexts()
  const usage = useUsage('agent', window)
  const columns: readonly Column<UsageRow>[] = [
    {
      header: text('run.agent'),
      cell: row => (
        <strong>
          <AgentName agentId={row.key} />
        </strong>
      ),
    },
    { header: text('nav.runs'), cell: row => number(row.runs), isNumber: true },
    {
      header: text('usage.minutes'),
      cell: row => number(row.connected_ms / 60_000, { maximumFractionDigits: 1 }),
      isNumber: true,
    },
    {
      header: text('usage.cost'),
      cell: row => (row.cost.amount === null ? '–' : `$${row.cost.amount}`),
      isNumber: true,
    },
  ]
  return (
    <Section title={text('usage.byAgent')}>
      {usage.isPending && <Loading />}
      {usage.isError && <Fault error={usage.error} />}
      {usage.data !== undefined && (
        <Table caption={text('usage.byAgent')} columns={columns} rows={usage.data} keyOf={row => row.key} />
      )}
    </Section>
  )
}

function Budget() {
  const api = useApi()
  const { text, date } = useTexts()
  const budget = useQuery({ queryKey: ['budgets.get'], queryFn: ({ signal }) => api.budgets.get({}, { signal }) })
  const change = useChange(['budgets.get'], ({ cap, policy }: { cap: string; policy: string }) =>
    api.budgets.update({ body: { cap_usd: cap, expected_policy_id: policy } }),
  )
  if (budget.isPending) return <Loading />
  if (budget.isError) return <Fault error={budget.error} />
  const { configured, cap_usd, spent_usd, remaining_usd, exceeded, period, policy_id } = budget.data
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (policy_id !== null)
      change.mutate({ cap: String(new FormData(event.currentTarget).get('cap')), policy: policy_id })
  }
  return (
    <Section title={text('budget.title')} actions={exceeded && <Badge tone="bad">{text('budget.exceeded')}</Badge>}>
      {!configured ? (
        <p className="hint">{text('budget.notConfigured')}</p>
      ) : (
        <>
          {cap_usd !== null && spent_usd !== null && (
            <meter min={0} max={Number(cap_usd) || 1} value={Number(spent_usd)} aria-label={text('budget.spent')} />
          )}
          <Facts
            rows={[
              [text('budget.spent'), spent_usd === null ? '–' : `$${spent_usd}`],
              [text('budget.cap'), cap_usd === null ? text('limit.none') : `$${cap_usd}`],
              [text('budget.remaining'), remaining_usd === null ? null : `$${remaining_usd}`],
              [text('budget.period'), period === null ? null : `${date(period.from)} – ${date(period.to)}`],
            ]}
          />
          <form className="inline-form" onSubmit={submit} key={policy_id}>
            <TextField
              label={text('budget.newCap')}
              name="cap"
              required
              inputMode="decimal"
              pattern="(0|[1-9][0-9]*)(\.[0-9]{1,12})?"
              defaultValue={cap_usd ?? ''}
            />
            <button type="submit" className="button" disabled={change.isPending}>
              {text('action.save')}
            </button>
          </form>
          {change.isError && <Fault error={change.error} />}
        </>
      )}
    </Section>
  )
}
