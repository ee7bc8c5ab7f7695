import { AXES, DIMENSIONS, type Dimension } from './conditions.ts'
import type { ConditionFigures } from './figures.ts'

interface Measure {
  readonly title: string
  readonly of: (figures: ConditionFigures) => number | null
}

const MEASURES: readonly Measure[] = [
  { title: 'Word errors, %', of: ({ word_error_rate }) => 100 * word_error_rate },
  { title: 'Cut-offs per 100 calls', of: ({ cut_offs, calls }) => (100 * cut_offs) / Math.max(1, calls) },
  { title: 'Latency p50, ms', of: ({ latency_p50_ms }) => latency_p50_ms },
  { title: 'Latency p95, ms', of: ({ latency_p95_ms }) => latency_p95_ms },
]
const COLOURS = { 'G.711': '#1f5fbf', 'G.722': '#c2571a' } as const
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [340, 220, 52, 38, 14]

/** One page with a plot of each measure by each dimension, and the figures as a table. It needs nothing from elsewhere. */
export function reportPage(rows: readonly ConditionFigures[], about: string): string {
  const sections = DIMENSIONS.map(dimension => {
    const own = rows.filter(row => row.dimension === dimension)
    const plots = MEASURES.map(measure => plot(measure, dimension, own)).join('\n')
    return `<section><h2>By ${dimension}</h2><div class="plots">${plots}</div></section>`
  })
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Conversations on damaged lines</title><style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 94rem; padding: 0 1rem; color: #222 }
.plots { display: flex; flex-wrap: wrap; gap: 1rem } figure { margin: 0; max-width: 100% } svg { max-width: 100%; height: auto } .figures { overflow-x: auto } text { font: 11px system-ui, sans-serif; fill: #444 }
table { border-collapse: collapse } td, th { border-bottom: 1px solid #ddd; padding: 0.15rem 0.6rem; text-align: right }
</style></head><body><h1>Conversations on damaged lines</h1>
<p>${escaped(about)}</p>
<p>${Object.entries(COLOURS)
    .map(([codec, colour]) => `<span style="color:${colour}">&#9632;</span> ${codec}`)
    .join(' &nbsp; ')}</p>
${sections.join('\n')}
<section class="figures"><h2>Figures</h2>${table(rows)}</section></body></html>
`
}

function plot({ title, of }: Measure, dimension: Dimension, rows: readonly ConditionFigures[]): string {
  const levels = rows.map(({ level }) => level)
  const [from, to] = [Math.min(...levels), Math.max(...levels)]
  const top = niceTop(Math.max(...rows.map(row => of(row) ?? 0)))
  const x = (level: number) => LEFT + ((level - from) / Math.max(1, to - from)) * (WIDTH - LEFT - 12)
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP)
  const grid = [0, top / 2, top].map(
    value =>
      `<line x1="${LEFT}" x2="${WIDTH - 8}" y1="${y(value)}" y2="${y(value)}" stroke="#e4e4e4"/><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${Number(value.toFixed(1))}</text>`,
  )
  const marks = [...new Set(levels)].map(
    level => `<text x="${x(level)}" y="${HEIGHT - BOTTOM + 15}" text-anchor="middle">${level}</text>`,
  )
  const lines = Object.entries(COLOURS).map(([codec, colour]) => {
    const points = rows
      .filter(row => row.codec === codec)
      .toSorted((a, b) => a.level - b.level)
      .flatMap(row => {
        const value = of(row)
        return value === null ? [] : [{ at: x(row.level), value: y(value) }]
      })
    const path = points.map(({ at, value }) => `${at.toFixed(1)},${value.toFixed(1)}`).join(' ')
    const dots = points.map(
      ({ at, value }) => `<circle cx="${at.toFixed(1)}" cy="${value.toFixed(1)}" r="2.6" fill="${colour}"/>`,
    )
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.6"/>${dots.join('')}`
  })
  return `<figure><figcaption>${title}</figcaption><svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title} by ${dimension}">
${[...grid, ...marks, ...lines].join('\n')}
<text x="${(LEFT + WIDTH) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${AXES[dimension]}</text></svg></figure>`
}

/** The next of 1, 2, 5, 10, 20 … */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= value) ?? 10 * power
}

function table(rows: readonly ConditionFigures[]): string {
  const names = Object.keys(rows[0] ?? {}) as (keyof ConditionFigures)[]
  const cells = (tag: 'th' | 'td', values: readonly unknown[]) =>
    `<tr>${values.map(value => `<${tag}>${escaped(`${value ?? 'none'}`)}</${tag}>`).join('')}</tr>`
  return `<table>${cells('th', names)}${rows
    .map(row =>
      cells(
        'td',
        names.map(name => row[name]),
      ),
    )
    .join('\n')}</table>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
