import type { CallFigures, Sample } from '../results.ts'

/** A line about the run so far. */
export function progressLine(sample: Sample, { calls, failed, failures }: CallFigures): string {
  const kinds = Object.entries(failures)
    .slice(0, 3)
    .map(([kind, count]) => `${kind} ${count}`)
  const parts = [
    `${Math.round(sample.at_ms / 1000)} s`,
    `${sample.live} live${sample.waiting === 0 ? '' : ` (${sample.waiting} wait to call again)`}`,
    `${sample.begun}/s begun`,
    `${calls} ended`,
    `${failed} failed${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`,
    `set-up ${ms(sample.setup_p50_ms)}/${ms(sample.setup_p99_ms)}`,
    `reply ${ms(sample.reply_p50_ms)}/${ms(sample.reply_p95_ms)}`,
    `own p99.9 ${sample.late_p999_ms.toFixed(1)} ms`,
    `CPU ${Math.round(sample.fleet_cpu_percent)} %${sample.target_cpu_percent === null ? '' : `, target ${Math.round(sample.target_cpu_percent)} %`}`,
  ]
  return parts.join('  ')
}

function ms(value: number | null): string {
  return value === null ? '–' : `${Math.round(value)} ms`
}
