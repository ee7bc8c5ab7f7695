import { createHash } from 'node:crypto'
import type { Environment } from './alert-platform.ts'

const UNIT = 10n ** 12n

// biome-ignore lint/suspicious/noExplicitAny: the proof looks into answers of every shape
type Body = any

/**
 * Computes the value and the counts of an available evaluation again, from what the API shows of the runs of its window and from
 * nothing else. Returns what differs.
 */
export async function recomputationFaults(
  environment: Environment,
  metric: string,
  evaluation: Body,
): Promise<string[]> {
  const expected = await recompute(environment, metric, evaluation.window)
  const shown = { value: evaluation.value, ...countsOf(evaluation.evidence) }
  return Object.entries(expected)
    .filter(([name, value]) => shown[name as keyof typeof shown] !== value)
    .map(([name, value]) => `${metric}: ${name} is ${shown[name as keyof typeof shown]}, by the API it is ${value}`)
}

function countsOf({ observation_count, failed_count, unknown_count, view }: Body) {
  return {
    observation_count,
    failed_count,
    unknown_count,
    sha256: view?.cohort.sha256,
    cohort: view?.cohort.observation_count,
  }
}

type Window = { readonly from: string; readonly to: string }

function recompute(
  environment: Environment,
  metric: string,
  window: Window,
): Promise<Readonly<Record<string, unknown>>> {
  if (metric === 'spend_usd_per_hour') return spend(environment, window)
  if (metric === 'p95_latency_ms_1h') return latency(environment, window)
  return metric === 'call_error_rate_24h' ? callErrors(environment, window) : recordings(environment, window)
}

async function pages(
  { call }: Environment,
  id: 'runs.list' | 'usage.summary',
  query: object,
  key: string,
): Promise<Body[]> {
  const items: Body[] = []
  for (let cursor: string | null = null; ; ) {
    const page: Body = await call(id, { query: { ...query, limit: 200, ...(cursor !== null && { cursor }) } })
    items.push(...page[key])
    cursor = page.next_cursor
    if (cursor === null) return items
  }
}

async function spend(environment: Environment, { from, to }: Window) {
  const rows = await pages(environment, 'usage.summary', { group_by: 'run', from, to }, 'rows')
  const priced = rows.filter(({ cost }) => cost.amount !== null)
  const units = priced.reduce((sum, { cost }) => sum + unitsOf(cost.amount), 0n)
  const text = priced.map(({ key, cost }) => `${key} ${cost.amount}`).join('\n')
  const count = priced.length
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { value: decimalOf(units), observation_count: count, cohort: count, sha256 }
}

async function latency(environment: Environment, { from, to }: Window) {
  const runs = await pages(environment, 'runs.list', { after: from, before: to, test: false }, 'items')
  const values: number[] = []
  for (const { run_id } of runs) {
    const { items } = await environment.call('runs.timeline', { params: { run_id }, query: { limit: 200 } })
    for (const { kind, latency } of items) if (kind === 'turn' && latency.llm !== null) values.push(latency.llm)
  }
  values.sort((a, b) => a - b)
  return { value: String(values[Math.ceil(0.95 * values.length) - 1]), observation_count: values.length }
}

const phoneRuns = (environment: Environment, { from, to }: Window) =>
  pages(environment, 'runs.list', { after: from, before: to, test: false, channel: 'phone' }, 'items')

async function callErrors(environment: Environment, window: Window) {
  const runs = await phoneRuns(environment, window)
  const ended = runs.filter(({ ended_at }) => ended_at !== null)
  return rate(ended.length, ended.filter(({ state }) => state === 'failed').length, runs.length - ended.length)
}

async function recordings(environment: Environment, window: Window) {
  const states: string[] = []
  for (const { run_id, publication } of await phoneRuns(environment, window)) {
    const { agent_id, version } = publication
    const { plan } = await environment.call('publications.get', { params: { agent_id, version } })
    if (plan.recording.required) states.push((await environment.call('runs.recording', { params: { run_id } })).state)
  }
  const count = (...of: string[]) => states.filter(state => of.includes(state)).length
  return rate(
    count('ready', 'partial', 'failed'),
    count('partial', 'failed'),
    count('pending', 'recording', 'processing'),
  )
}

function rate(observation_count: number, failed_count: number, unknown_count: number) {
  const value = decimalOf((BigInt(failed_count) * UNIT) / BigInt(observation_count))
  return { value, observation_count, failed_count, unknown_count }
}

function unitsOf(decimal: string): bigint {
  const [whole, fraction = ''] = decimal.split('.')
  return BigInt(whole!) * UNIT + BigInt(fraction.padEnd(12, '0'))
}

function decimalOf(units: bigint): string {
  const fraction = String(units % UNIT)
    .padStart(12, '0')
    .replace(/0+$/, '')
  return `${units / UNIT}${fraction === '' ? '' : `.${fraction}`}`
}
