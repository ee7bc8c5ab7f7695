import type { EventFrom, ResultFrom } from '@parley/client'
import type { ReceivedEvent } from '@parley/examples'
import type { LegTransport } from '@parley/leg'

/** What the API and the called phone report about the run of the demo. */
export interface DemoEvidence {
  readonly run: ResultFrom<'runs.get'>
  readonly timeline: readonly EventFrom<'runs.events'>[]
  readonly transcript: ResultFrom<'runs.transcript'>
  /** Null: the run has no recording. */
  readonly recording: DemoRecording | null
  readonly effects: ResultFrom<'runs.effects'>['items']
  /** Null: nothing was metered. */
  readonly usage: ResultFrom<'usage.summary'>['rows'][number] | null
  /** Webhooks that the example server received with a valid signature. */
  readonly webhooks: readonly ReceivedEvent[]
  /** Transports of the call as the called phone saw them; null: the phone was not reached. */
  readonly transport: LegTransport | null
}

/** The downloaded file. */
export interface DemoRecording {
  readonly path: string
  readonly channels: number
  readonly sample_rate_hz: number
  readonly duration_ms: number
}

const PARTS = ['e2e', 'endpointing', 'stt', 'llm', 'tts', 'engine'] as const

type Latency = NonNullable<DemoEvidence['run']['latency']>

/** What `npm run demo -- --json` prints. */
interface DemoResult {
  readonly run: Pick<DemoEvidence['run'], 'state' | 'outcome'>
  readonly transport: LegTransport | null
  readonly utterances: DemoEvidence['transcript']['utterances']
  readonly digits: string
  /** A part is null if no turn was measured. */
  readonly latency: Readonly<Record<(typeof PARTS)[number], Latency[(typeof PARTS)[number]]>>
  readonly recording: DemoRecording | null
}

export function demoResult({ run, timeline, transcript, recording, transport }: DemoEvidence): DemoResult {
  const { state, outcome, latency } = run
  const digits = timeline.flatMap(item => (item.kind === 'digits' && item.direction === 'in' ? [item.digits] : []))
  return {
    run: { state, outcome },
    transport,
    utterances: transcript.utterances,
    digits: digits.join(''),
    latency: Object.fromEntries(PARTS.map(part => [part, latency?.[part] ?? null])) as DemoResult['latency'],
    recording,
  }
}

/** The result as lines of text: outcome, transports, latency of each answer, effects, usage and webhooks. */
export function demoSummary(evidence: DemoEvidence): string[] {
  const { run, transport, digits, recording } = demoResult(evidence)
  return [
    `outcome    ${run.state}: ${run.outcome?.kind ?? 'none'}, ended by ${run.outcome?.ended_by ?? '-'}`,
    `transport  ${transport?.signalling ?? '-'} + ${transport?.media ?? '-'}`,
    `digits     ${digits}`,
    `recording  ${recording === null ? 'none' : `${recording.path} (left channel: called phone, right channel: agent)`}`,
    '',
    ...latencyTable(evidence),
    '',
    'effects (outside actions of the run, from the ledger)',
    ...effectLines(evidence),
    `usage      ${usageLine(evidence.usage)}`,
    `webhooks   ${evidence.webhooks.map(({ event }) => event).join(', ') || 'none'} (signatures checked)`,
  ]
}

function latencyTable({ run, timeline, transcript }: DemoEvidence): string[] {
  const cell = (value: string | number | null) =>
    String(typeof value === 'number' ? Math.round(value) : (value ?? '-')).padStart(12)
  const text = (index: number) => transcript.utterances.find(line => line.index === index)?.text ?? ''
  return [
    `latency, ms${PARTS.map(cell).join('')}`,
    ...timeline.flatMap(item =>
      item.kind === 'turn'
        ? [
            `answer ${String(item.index).padEnd(4)}${PARTS.map(part => cell(item.latency[part])).join('')}   ${shortened(text(item.index))}`,
          ]
        : [],
    ),
    ...(['p50', 'p95'] as const).map(
      rank => `${rank.padEnd(11)}${PARTS.map(part => cell(run.latency?.[part]?.[rank] ?? null)).join('')}`,
    ),
    "e2e: from the end of the caller's speech to the start of the agent's; engine: the rest of e2e.",
  ]
}

/** One line for each combination of effect kind, action and state, with its count. */
function effectLines({ effects }: DemoEvidence): string[] {
  const counted = new Map<string, number>()
  for (const { effect_kind, action, state } of effects) {
    const what = `${effect_kind.padEnd(18)} ${action.id.padEnd(24)} ${state}`
    counted.set(what, (counted.get(what) ?? 0) + 1)
  }
  return [...counted].map(([what, times]) => `  ${what}${times > 1 ? ` x ${times}` : ''}`)
}

function usageLine(usage: DemoEvidence['usage']): string {
  if (usage === null) return 'none'
  const { connected_ms, llm_input_tokens, llm_output_tokens, stt_ms, tts_characters } = usage
  return [
    `${(connected_ms / 1000).toFixed(1)} s connected`,
    `${stt_ms ?? 0} ms of speech recognised`,
    `${tts_characters ?? 0} characters spoken`,
    `${llm_input_tokens ?? 0} model tokens in`,
    `${llm_output_tokens ?? 0} out`,
  ].join(', ')
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
