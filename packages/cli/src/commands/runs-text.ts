import type { EventFrom, ResultFrom } from '@parley/client'
import { printable, table } from './agents-text.ts'

type Run = ResultFrom<'runs.get'>
type Item = EventFrom<'runs.events'>

/** A table of runs, in the order of the API (newest first). */
export function runTable(runs: readonly Run[]): string {
  return table(
    ['RUN', 'CREATED', 'AGENT', 'CHANNEL', 'STATE', 'OUTCOME', 'TO'],
    runs.map(run => [
      run.run_id,
      run.created_at,
      run.agent_id,
      `${run.channel} ${run.mode}`,
      run.phone_state === null ? run.state : `${run.state} (${run.phone_state})`,
      run.disposition ?? '-',
      run.to_number ?? '-',
    ]),
  )
}

/** One run, one property per line. */
export function runLines(run: Run): string {
  const { outcome, latency } = run
  const properties: [string, string | null][] = [
    ['run', run.run_id],
    ['agent', `${run.agent_id} version ${run.publication.version}`],
    ['channel', `${run.channel} ${run.mode}`],
    ['state', run.phone_state === null ? run.state : `${run.state} (${run.phone_state})`],
    [
      'outcome',
      outcome === null
        ? null
        : `${outcome.kind}, ended by ${outcome.ended_by}${outcome.detail === null ? '' : `: ${outcome.detail}`}`,
    ],
    ['disposition', run.disposition],
    ['from', run.from_number],
    ['to', run.to_number],
    ['created', run.created_at],
    ['started', run.started_at],
    ['ended', run.ended_at],
    ['connected', run.connected_ms === null ? null : `${(run.connected_ms / 1000).toFixed(1)} s`],
    ['contact', run.contact],
    ['latency', latency?.e2e ? `p50 ${Math.round(latency.e2e.p50)} ms, p95 ${Math.round(latency.e2e.p95)} ms` : null],
  ]
  const width = Math.max(...properties.map(([name]) => name.length))
  return properties
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.padEnd(width)}  ${printable(value!)}\n`)
    .join('')
}

/** The transcript, one line per utterance. */
export function transcriptLines({ state, utterances }: ResultFrom<'runs.transcript'>): string {
  if (utterances.length === 0) return `The transcript has no utterances (state: ${state}).\n`
  return utterances
    .map(({ role, text, interrupted }) => `${role.padEnd(5)}  ${printable(text)}${interrupted ? ' —' : ''}\n`)
    .join('')
}

/** A line for each SIP message: time, direction, peer, start line and CSeq; `isFull`: then the whole message, indented. */
export function ladderLines({ items, truncated }: ResultFrom<'runs.ladder'>, isFull: boolean): string {
  if (items.length === 0) return 'The run has no SIP messages.\n'
  const lines = items.map(({ at, direction, transport, source, destination, message }) => {
    const [startLine = '', ...rest] = message.split(/\r?\n/)
    const arrow = direction === 'in' ? `<-- ${source}` : `--> ${destination}`
    const sequence = startLine.startsWith('SIP/2.0') ? rest.find(line => line.startsWith('CSeq:')) : undefined
    const summary = `${at.slice(11, 23)}  ${arrow} ${transport}  ${startLine}${sequence === undefined ? '' : `  (${sequence})`}`
    return isFull ? [summary, ...rest.map(line => `    ${line}`)].map(printable).join('\n') : printable(summary)
  })
  return `${[...lines, ...(truncated ? ['Further messages were not kept.'] : [])].join('\n')}\n`
}

/** An item of the timeline as one line: time since the start, and what happened. */
export function itemLine(item: Item): string {
  const time = item.offset_ms === null ? '       -' : `${(item.offset_ms / 1000).toFixed(2).padStart(7)}s`
  return `${time}  ${printable(describe(item))}\n`
}

function describe(item: Item): string {
  switch (item.kind) {
    case 'state':
      return `state ${item.state}${item.phone_state === null ? '' : ` (${item.phone_state})`}`
    case 'utterance':
      return `${item.role}: ${item.text}${item.interrupted ? ' —' : ''}`
    case 'turn':
      return `turn ${item.index}: ${item.latency.e2e === null ? 'not measured' : `${Math.round(item.latency.e2e)} ms`}`
    case 'node':
      return `node ${item.node_id} (${item.cause})`
    case 'action':
      return `action ${item.action_id} ${item.phase}`
    case 'digits':
      return `digits ${item.direction === 'in' ? 'from the far end' : 'sent'}: ${item.digits}`
    case 'hold':
      return item.held ? 'on hold' : 'resumed'
    case 'interruption':
      return item.resumed ? 'not an interruption: the agent continues' : 'the caller interrupted the agent'
    case 'variables':
      return `variables by ${item.source}: ${item.set.join(', ') || 'none'}`
    case 'update':
      return `update ${item.status}`
    case 'contact':
      return `contact ${item.contact} (${item.class ?? 'undecided'})`
    case 'error':
      return `error ${item.code}: ${item.message}`
    default:
      // A newer server may send kinds that this version does not know.
      return (item as { kind: string }).kind
  }
}
