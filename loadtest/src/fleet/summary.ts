import type { Quantiles } from './distribution.ts'
import type { BreakingPoint, MissedGoal, StepResult } from './goals.ts'
import type { LoadQuantity } from './load-stages.ts'
import type { CallFigures } from './results.ts'

/** The result of a run: `summary.json`, and the last line on standard output. */
export interface Summary {
  readonly loadtest: string
  readonly target: string | null
  readonly started_at: string
  readonly seconds: number
  readonly quantity: LoadQuantity
  readonly calls: CallFigures
  /** Percentage of the calls that the load asked for and that began. */
  readonly begun_percent: number
  readonly steps: readonly (StepResult & { readonly figures: CallFigures })[]
  readonly breaking_point: BreakingPoint | null
  readonly breaking_point_text: string | null
  readonly missed_goals: readonly MissedGoal[]
  readonly generator: GeneratorFigures
}

export interface GeneratorFigures {
  readonly processes: number
  readonly cores: readonly number[]
  readonly nice: number
  /** Of the packets of the fleet: the worst second's quantiles and maximum. */
  readonly late_p999_ms: number
  readonly late_max_ms: number
  /** p99.9 of the lateness of all packets of the run. */
  readonly run_late_p999_ms: number
  /** Over the seconds of the run. */
  readonly loop_ms: Quantiles
  /** `run_late_p999_ms` exceeds the scenario's `late_ms`: results may be the generator's doing. */
  readonly late: boolean
  /** Seconds whose own p99.9 exceeds it. */
  readonly late_seconds: number
  readonly cpu_seconds: number
  readonly cpu_ms_per_call: number | null
  /** CPU of the fleet for a second of a call, in percent of a core. */
  readonly cpu_percent_per_live_call: number | null
  readonly peak_rss_bytes: number
}
