import type { ResultFrom } from '@parley/client'

export type UsageRow = ResultFrom<'usage.summary'>['rows'][number]

/** Usage by day, as the columns of a plot. */
interface UsageDays {
  /** Starts of the days, in seconds since 1970, UTC. */
  readonly days: readonly number[]
  readonly runs: readonly number[]
  readonly minutes: readonly number[]
  /** USD; null: not priced. */
  readonly cost: readonly (number | null)[]
}

const DAY_S = 86_400

/** One column for every day from `from` to `to` (`YYYY-MM-DD`, UTC, both included); days without runs are zero. */
export function usageDays(rows: readonly UsageRow[], from: string, to: string): UsageDays {
  const byDay = new Map(rows.map(row => [row.key, row]))
  const first = Date.parse(`${from}T00:00:00Z`) / 1000
  const count = Math.round((Date.parse(`${to}T00:00:00Z`) / 1000 - first) / DAY_S) + 1
  const days = Array.from({ length: Math.max(0, count) }, (_, index) => first + index * DAY_S)
  const found = days.map(day => byDay.get(new Date(day * 1000).toISOString().slice(0, 10)))
  return {
    days,
    runs: found.map(row => row?.runs ?? 0),
    minutes: found.map(row => (row?.connected_ms ?? 0) / 60_000),
    cost: found.map(row => (row === undefined ? 0 : row.cost.amount === null ? null : Number(row.cost.amount))),
  }
}

interface UsageTotals {
  readonly runs: number
  readonly minutes: number
  readonly tokens: number
  readonly characters: number
}

export function usageTotals(rows: readonly UsageRow[]): UsageTotals {
  const sum = (of: (row: UsageRow) => number | null) => rows.reduce((all, row) => all + (of(row) ?? 0), 0)
  return {
    runs: sum(row => row.runs),
    minutes: sum(row => row.connected_ms) / 60_000,
    tokens: sum(row => (row.llm_input_tokens ?? 0) + (row.llm_output_tokens ?? 0)),
    characters: sum(row => row.tts_characters),
  }
}
