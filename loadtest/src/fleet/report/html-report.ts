import type { Quantiles } from '../distribution.ts'
import type { Sample } from '../results.ts'
import type { Summary } from '../summary.ts'
import { escapeHtml, plot } from './plot.ts'

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2126; --soft: #5b6770; --line: #d8dee3; --card: #fff; --page: #f4f6f8; --bad: #b3261e; --good: #1a7f4b }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebee; --soft: #9aa7b0; --line: #39434b; --card: #1d2328; --page: #14181b; --bad: #ff8a80; --good: #6fd39c } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1400px; margin: 0 auto; padding: 24px 16px 48px }
h1 { font-size: 1.5rem; margin: 0 0 4px } h2 { font-size: 1.1rem; margin: 32px 0 12px }
p { margin: 4px 0 } .soft, small { color: var(--soft); font-weight: normal } .bad { color: var(--bad) } .good { color: var(--good) }
.target { overflow-wrap: anywhere }
.banner { border-left: 4px solid var(--bad); background: var(--card); padding: 10px 14px; margin: 12px 0; overflow-wrap: anywhere }
.banner.ok { border-color: var(--good) }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 12px; margin: 16px 0 }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px }
.tile b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 16px }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px; min-width: 0 }
figcaption { font-weight: 600; margin-bottom: 6px }
svg { display: block; width: 100%; height: auto } svg text { fill: var(--soft); font-size: 12px }
.grid { stroke: var(--line) } .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }
.c0 { stroke: #2f6fde } .c1 { stroke: #d9822b } .c2 { stroke: #2f9e6e } .c3 { stroke: #b0419e } .c4 { stroke: #c23934 } .c5 { stroke: #7a6ff0 }
.k0 { background: #2f6fde } .k1 { background: #d9822b } .k2 { background: #2f9e6e } .k3 { background: #b0419e } .k4 { background: #c23934 } .k5 { background: #7a6ff0 }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 6px 0 0; padding: 0; font-size: 13px; color: var(--soft) }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px }
.wide { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } th, td { text-align: right; padding: 6px 12px; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child, td:first-child { text-align: left; white-space: normal } tr:last-child td { border-bottom: 0 } thead th { color: var(--soft); font-weight: 600 }
@media (max-width: 600px) { svg text { font-size: 21px } th, td { padding: 6px 8px } }
`

/** The report of a run: one HTML file without scripts and without anything from elsewhere. */
export function htmlReport(summary: Summary, samples: readonly Sample[], description: string): string {
  const title = escapeHtml(summary.loadtest)
  const { calls } = summary
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: load test</title><style>${STYLE}</style></head><body><main>
<h1>${title}</h1>
<p class="soft target">${escapeHtml(summary.target ?? 'phones that were called')}; ${escapeHtml(summary.started_at)}; ${Math.round(summary.seconds)} s</p>
<p>${escapeHtml(description)}</p>
${banners(summary)}
<div class="tiles">
${tile('calls', calls.calls)}${tile('failed', calls.failed, calls.failed > 0 ? 'bad' : 'good')}
${tile('set-up p50', ms(calls.setup_ms.p50))}${tile('set-up p99', ms(calls.setup_ms.p99))}
${tile('reply p50', ms(calls.reply_ms.p50))}${tile('reply p95', ms(calls.reply_ms.p95))}
${tile('packets lost', calls.packets_lost)}${tile('own lateness p99.9', ms(summary.generator.run_late_p999_ms), summary.generator.late ? 'bad' : '')}
</div>
<h2>Over time</h2>
<div class="plots">${plots(samples).join('\n')}</div>
<h2>Distributions</h2>
${distributions(summary)}
<h2>Failures by kind</h2>
${failures(summary)}
<h2>Steps</h2>
${steps(summary)}
<h2>The generator</h2>
${generator(summary)}
</main></body></html>
`
}

function banners({ generator, missed_goals, breaking_point, breaking_point_text }: Summary): string {
  const found: string[] = []
  if (generator.late)
    found.push(
      `<div class="banner"><b class="bad">The generator was late</b> (p99.9 of its packets ${ms(generator.run_late_p999_ms)}; late in ${generator.late_seconds} s of the run): these results may be its own doing.</div>`,
    )
  const isKnown = breaking_point?.kind !== 'generator-late'
  if (breaking_point_text !== null)
    found.push(`<div class="banner${isKnown ? ' ok' : ''}">${escapeHtml(breaking_point_text)}</div>`)
  for (const { goal, limit, measured } of missed_goals)
    found.push(
      `<div class="banner"><b class="bad">Goal missed:</b> ${escapeHtml(goal)} is ${measured ?? 'not measured'}, the goal is ${limit}.</div>`,
    )
  return found.join('\n')
}

function tile(name: string, value: number | string, kind = ''): string {
  return `<div class="tile"><span class="soft">${escapeHtml(name)}</span><b class="${kind}">${value}</b></div>`
}

function plots(samples: readonly Sample[]): string[] {
  const seconds = samples.map(sample => sample.at_ms / 1000)
  const kinds = [...new Set(samples.flatMap(({ failures }) => Object.keys(failures)))]
  const of = (name: string, value: (sample: Sample) => number | null) => ({ name, values: samples.map(value) })
  const draw = (title: string, unit: string, ...series: ReturnType<typeof of>[]) =>
    plot({ title, unit, seconds, series })
  const megabytes = (bytes: number | null) => (bytes === null ? null : bytes / 1_048_576)
  return [
    draw(
      'Calls',
      'at once; per second',
      of('at once', s => s.live),
      of('begun', s => s.begun),
      of('failed', s => s.failed),
      of('wait to call again', s => s.waiting),
    ),
    draw(
      'Set-up time',
      'ms',
      of('p50', s => s.setup_p50_ms),
      of('p99', s => s.setup_p99_ms),
    ),
    draw(
      'Turn latency',
      'ms',
      of('p50', s => s.reply_p50_ms),
      of('p95', s => s.reply_p95_ms),
    ),
    draw(
      'Lateness of packets',
      'ms',
      of('received: highest jitter', s => s.jitter_max_ms),
      of('own: p99.9', s => s.late_p999_ms),
      of('own event loop', s => s.loop_max_ms),
    ),
    draw(
      'CPU',
      '% of a core',
      of('fleet', s => s.fleet_cpu_percent),
      of('target', s => s.target_cpu_percent),
    ),
    draw(
      'Memory',
      'MiB',
      of('fleet', s => megabytes(s.fleet_rss_bytes)),
      of('target', s => megabytes(s.target_rss_bytes)),
    ),
    draw('Failures', 'per second', ...kinds.map(kind => of(kind, s => s.failures[kind] ?? 0))),
  ]
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = (row: readonly (string | number)[], tag: string) =>
    `<tr>${row.map(value => `<${tag}>${escapeHtml(String(value))}</${tag}>`).join('')}</tr>`
  return `<div class="wide"><table><thead>${cells(head, 'th')}</thead><tbody>${rows.map(row => cells(row, 'td')).join('')}</tbody></table></div>`
}

function distributions({ calls }: Summary): string {
  const row = (name: string, values: Quantiles) => [
    name,
    values.count,
    ...[values.p50, values.p95, values.p99, values.p999, values.max].map(value => ms(value)),
  ]
  return table(
    ['', 'count', 'p50', 'p95', 'p99', 'p99.9', 'max'],
    [
      row('set-up', calls.setup_ms),
      row('reply', calls.reply_ms),
      row('highest jitter of a call', calls.jitter_max_ms),
      row('duration', calls.duration_ms),
    ],
  )
}

function failures({ calls }: Summary): string {
  const kinds = Object.entries(calls.failures)
  if (kinds.length === 0) return '<p class="good">No call failed.</p>'
  const share = (count: number) => `${((100 * count) / calls.calls).toFixed(2)} %`
  const found = table(
    ['kind', 'calls', 'share'],
    kinds.map(([kind, count]) => [kind, count, share(count)]),
  )
  if (calls.retries === 0) return found
  return `${found}<p>${calls.retries} calls (${share(calls.retries)}) are of callers who were not answered and called again.</p>`
}

function steps({ steps: results, quantity }: Summary): string {
  const unit = quantity === 'calls' ? 'calls at once' : 'calls a second'
  return table(
    [unit, 'calls', 'failed', 'set-up p50', 'set-up p99', 'reply p95', 'missed goals', 'generator'],
    results.map(({ value, figures, missed, generatorLate, generatorLateP999Ms }) => [
      value,
      figures.calls,
      figures.failed,
      ms(figures.setup_ms.p50),
      ms(figures.setup_ms.p99),
      ms(figures.reply_ms.p95),
      missed.map(({ goal }) => goal).join(', ') || '–',
      `${generatorLate ? 'late' : 'in time'} (p99.9 ${ms(generatorLateP999Ms)})`,
    ]),
  )
}

function generator({ generator: own }: Summary): string {
  const cores = own.cores.length === 0 ? 'any' : own.cores.join(', ')
  return table(
    ['what', 'value'],
    [
      ['processes', own.processes],
      ['cores', cores],
      ['nice', own.nice],
      ['CPU', `${own.cpu_seconds.toFixed(1)} s`],
      ['CPU for a call', ms(own.cpu_ms_per_call)],
      [
        'CPU of a call at a time',
        own.cpu_percent_per_live_call === null ? '–' : `${own.cpu_percent_per_live_call.toFixed(2)} % of a core`,
      ],
      ['highest memory', `${Math.round(own.peak_rss_bytes / 1_048_576)} MiB`],
      ['lateness of packets p99.9, whole run', ms(own.run_late_p999_ms)],
      ['lateness of packets p99.9, worst second', ms(own.late_p999_ms)],
      ['seconds with late packets', own.late_seconds],
      ['event loop p99', ms(own.loop_ms.p99)],
    ],
  )
}

function ms(value: number | null): string {
  if (value === null) return '–'
  return value >= 100 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`
}
