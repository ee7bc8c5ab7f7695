import type { TurnLatency, Utterance } from '@parley/conversation'
import type { CallReport } from '@parley/engine'
import { type Percentiles, percentiles } from '@parley/kernel'

const PARTS = ['e2e', 'endpointing', 'stt', 'llm', 'tts', 'engine'] as const satisfies readonly (keyof TurnLatency)[]

/** What `npm run demo -- --json` prints. */
export interface DemoResult {
  readonly run: CallReport['run']
  readonly transport: CallReport['transport']
  readonly utterances: readonly Utterance[]
  readonly digits: string
  /** Null where no turn was measured. */
  readonly latency: Readonly<Record<(typeof PARTS)[number], Percentiles | null>>
  readonly recording: { readonly path: string; readonly channels: number; readonly duration_ms: number } | null
}

export function demoResult(report: CallReport): DemoResult {
  const recording = report.end.media?.recording ?? null
  const latency = Object.fromEntries(
    PARTS.map(part => [part, percentiles(report.latencies.map(turn => turn[part]))]),
  ) as DemoResult['latency']
  return {
    run: report.run,
    transport: report.transport,
    utterances: report.utterances,
    digits: report.digits,
    latency,
    recording: recording && {
      path: recording.path,
      channels: recording.channels,
      duration_ms: Math.round(recording.durationMs),
    },
  }
}

/** The result for people: outcome, line, and where the time of each answer went. */
export function demoSummary(report: CallReport): string[] {
  const { run, transport, digits, recording } = demoResult(report)
  return [
    `outcome    ${run.state}: ${run.outcome?.kind ?? 'none'}, ended by ${run.outcome?.ended_by ?? 'nobody'}`,
    `transport  ${transport?.signalling ?? '-'} + ${transport?.media ?? '-'}`,
    `digits     ${digits}`,
    `recording  ${recording === null ? 'none' : `${recording.path} (left: caller, right: agent)`}`,
    '',
    ...latencyTable(report),
  ]
}

function latencyTable(report: CallReport): string[] {
  const cell = (value: string | number | null) => String(value ?? '-').padStart(12)
  const answers = report.timeline.flatMap(item => (item.kind === 'turn' ? [item] : []))
  const text = (index: number) => report.utterances.find(line => line.index === index)?.text ?? ''
  return [
    `latency, ms${PARTS.map(cell).join('')}`,
    ...answers.map(
      ({ index, latency }) =>
        `answer ${String(index).padEnd(4)}${PARTS.map(part => cell(latency[part])).join('')}   ${shortened(text(index))}`,
    ),
    ...(['p50', 'p95'] as const).map(
      rank => `${rank.padEnd(11)}${PARTS.map(part => cell(demoResult(report).latency[part]?.[rank] ?? null)).join('')}`,
    ),
    'e2e: from the last sound of the caller to the first of the agent; engine: what is left of it besides the others.',
  ]
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
