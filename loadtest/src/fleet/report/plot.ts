/** A line of a plot; null values leave a gap. */
interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
}

interface PlotOptions {
  readonly title: string
  readonly unit: string
  /** Position of each value, s. */
  readonly seconds: readonly number[]
  readonly series: readonly Series[]
}

const WIDTH = 640
const HEIGHT = 220
const LEFT = 64
const RIGHT = 12
const TOP = 12
const BOTTOM = 28
const TICKS = 4
/** More points than pixels make the file large and the line no finer. */
const MOST_POINTS = 1200

/** A figure with an SVG line plot and a legend. No scripts; colours are classes of the page's style sheet. */
export function plot({ title, unit, seconds, series }: PlotOptions): string {
  const last = Math.max(1, seconds.at(-1) ?? 1)
  const highest = niceCeiling(Math.max(0, ...series.flatMap(({ values }) => values.map(value => value ?? 0))))
  const x = (at: number) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / last
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / highest)
  const parts: string[] = []
  for (let i = 0; i <= TICKS; i++) {
    const value = (highest * i) / TICKS
    parts.push(`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${px(y(value))}" y2="${px(y(value))}"/>`)
    parts.push(`<text x="${LEFT - 6}" y="${px(y(value) + 4)}" text-anchor="end">${label(value)}</text>`)
    const at = (last * i) / TICKS
    const anchor = i === 0 ? 'start' : i === TICKS ? 'end' : 'middle'
    parts.push(
      `<text x="${px(x(at))}" y="${HEIGHT - 8}" text-anchor="${anchor}">${label(last >= 20 ? Math.round(at) : at)} s</text>`,
    )
  }
  for (const [i, { values }] of series.entries())
    parts.push(`<path class="line c${i % 6}" d="${path(seconds, values, x, y)}"/>`)
  const legend = series.map(({ name }, i) => `<li><span class="key k${i % 6}"></span>${escapeHtml(name)}</li>`)
  const heading = `${escapeHtml(title)} <small>${escapeHtml(unit)}</small>`
  return `<figure><figcaption>${heading}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">${parts.join('')}</svg><ul class="legend">${legend.join('')}</ul></figure>`
}

function path(
  seconds: readonly number[],
  values: readonly (number | null)[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  const every = Math.max(1, Math.ceil(values.length / MOST_POINTS))
  let d = ''
  let pen = 'M'
  for (let i = 0; i < values.length; i += every) {
    // The highest of the values that fall together, so that no peak is lost.
    const group = values.slice(i, i + every).filter(value => value !== null)
    if (group.length === 0) {
      pen = 'M'
      continue
    }
    const point = `${px(x(seconds[i]!))} ${px(y(Math.max(...group)))}`
    // A line of no length with round ends is a dot: a value without neighbours is seen.
    d += pen === 'M' ? `M${point}L${point}` : `L${point}`
    pen = 'L'
  }
  return d
}

/** The next of 1, 2, 2.5, 5 or 10 times a power of ten. */
function niceCeiling(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * [1, 2, 2.5, 5, 10].find(step => value <= step * power * (1 + 1e-9))!
}

function label(value: number): string {
  if (value >= 10_000) return `${Math.round(value / 100) / 10}k`
  return String(Math.round(value * 100) / 100)
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10)
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
