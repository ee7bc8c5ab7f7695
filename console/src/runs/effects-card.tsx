import type { ResultFrom } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Badge, Empty, Fault, Loading, Section, type Tone } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { isEnded, type Run } from './run-words.tsx'

type Effect = ResultFrom<'runs.effects'>['items'][number]
type Receipt = Effect['receipts'][number]

const TONES: Readonly<Record<Effect['state'], Tone>> = {
  intended: 'neutral',
  sending: 'live',
  succeeded: 'good',
  failed: 'bad',
  uncertain: 'warn',
}

/** What the run did outside: requests, calls, transfers, model requests, with their receipts. */
export function EffectsCard({ run }: { readonly run: Run }) {
  const api = useApi()
  const { text } = useTexts()
  const columns = useEffectColumns()
  const [hasModel, setModel] = useState(false)
  const effects = useQuery({
    queryKey: ['runs.effects', run.run_id, run.state],
    queryFn: ({ signal }) => api.runs.effects({ params: { run_id: run.run_id } }, { signal }),
    placeholderData: previous => previous,
    refetchInterval: isEnded(run) ? false : 4000,
  })
  const all = effects.data?.items ?? []
  const shown = hasModel ? all : all.filter(effect => effect.effect_kind !== 'gateway_inference')
  return (
    <Section
      title={text('effects.title')}
      actions={
        <label className="check">
          <input type="checkbox" checked={hasModel} onChange={event => setModel(event.target.checked)} />
          {text('effects.withModel', {
            count: all.filter(effect => effect.effect_kind === 'gateway_inference').length,
          })}
        </label>
      }
    >
      {effects.isPending && <Loading />}
      {effects.isError && <Fault error={effects.error} />}
      {effects.isSuccess && shown.length === 0 && <Empty>{text('effects.empty')}</Empty>}
      {shown.length > 0 && (
        <Table caption={text('effects.title')} columns={columns} rows={shown} keyOf={effect => effect.effect_id} />
      )}
    </Section>
  )
}

function useEffectColumns(): readonly Column<Effect>[] {
  const { text, word, time, shortTime } = useTexts()
  return [
    { header: text('effects.action'), cell: effect => <span className="code">{effect.action.id}</span> },
    { header: text('effects.kind'), cell: effect => word('effectKind', effect.effect_kind) },
    {
      header: text('run.state'),
      cell: effect => (
        <span className="badges">
          <Badge tone={TONES[effect.state]}>{word('effectState', effect.state)}</Badge>
          {effect.decision?.decision === 'deny' && (
            <Badge tone="bad">{effect.decision.reason ?? text('effects.denied')}</Badge>
          )}
          {effect.error_code !== null && <span className="code">{effect.error_code}</span>}
        </span>
      ),
    },
    {
      header: text('effects.node'),
      cell: effect => (effect.node_id === null ? '–' : <span className="code">{effect.node_id}</span>),
    },
    {
      header: text('effects.receipts'),
      cell: effect =>
        effect.receipts.length === 0 ? (
          '–'
        ) : (
          <ul>
            {effect.receipts.map(receipt => (
              <li key={JSON.stringify(receipt)}>{receiptText(receipt, shortTime)}</li>
            ))}
          </ul>
        ),
    },
    { header: text('effects.at'), cell: effect => <time dateTime={effect.created_at}>{time(effect.created_at)}</time> },
  ]
}

/** A receipt in one line; the parts are names and figures of protocols, the same in every language. */
function receiptText(receipt: Receipt, shortTime: (ms: number) => string): string {
  switch (receipt.kind) {
    case 'http':
      return `HTTP ${receipt.status} · ${shortTime(receipt.duration_ms)} · ${receipt.response_bytes} B · #${receipt.send_attempt}`
    case 'sip_dial':
      return receipt.sip_call_id === null ? 'INVITE' : `INVITE · ${receipt.sip_call_id.slice(0, 12)}…`
    case 'sip_transfer':
      return `REFER ${receipt.refer_status ?? '–'} · ${receipt.final_sip_status ?? '–'}`
    case 'sip_hangup':
      return `BYE ${receipt.sip_status ?? '–'}`
    case 'rtc_room':
      return receipt.resource_id
    case 'gateway_inference':
      return receipt.attempt_id.slice(0, 8)
    case 'transaction':
      return `${receipt.table} ${receipt.row_id}`
  }
}
