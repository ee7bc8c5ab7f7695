import type { Ms } from '@parley/kernel'
import type { LatenessCounts } from '@parley/media'
import type { CallRow } from './call-row.ts'
import { Distribution, type Quantiles, quantilesOf } from './distribution.ts'

/** What one process of the fleet measured in about a second. */
export interface ProcessSample {
  readonly process: number
  readonly live: number
  /** Callers who were not answered and wait before they call again. */
  readonly waiting: number
  readonly begun: number
  /** CPU time of the process since its start. */
  readonly cpu_ms: Ms
  readonly rss_bytes: number
  /** Lateness of the packets since the sample before. */
  readonly packets: number
  readonly late_p50_ms: Ms
  readonly late_p999_ms: Ms
  readonly late_max_ms: Ms
  /** By a histogram for each media thread, so that packets of several seconds and processes can be judged together. */
  readonly late: readonly LatenessCounts[]
  /** Longest delay of the process's event loop. */
  readonly loop_max_ms: Ms
}

/** One second of the run, as it is written to `samples.jsonl`. */
export interface Sample {
  readonly at_ms: Ms
  readonly live: number
  readonly waiting: number
  readonly begun: number
  readonly ended: number
  readonly failed: number
  readonly setup_p50_ms: number | null
  readonly setup_p99_ms: number | null
  readonly reply_p50_ms: number | null
  readonly reply_p95_ms: number | null
  readonly jitter_max_ms: number
  readonly late_p999_ms: Ms
  readonly loop_max_ms: Ms
  /** Share of one core, in percent. */
  readonly fleet_cpu_percent: number
  readonly fleet_rss_bytes: number
  readonly target_cpu_percent: number | null
  readonly target_rss_bytes: number | null
  readonly failures: Readonly<Record<string, number>>
}

export interface CallFigures {
  readonly calls: number
  readonly failed: number
  /** Calls of callers who were not answered before. */
  readonly retries: number
  readonly failures: Readonly<Record<string, number>>
  readonly setup_ms: Quantiles
  readonly reply_ms: Quantiles
  readonly jitter_max_ms: Quantiles
  readonly duration_ms: Quantiles
  readonly packets_received: number
  readonly packets_lost: number
}

/** Adds up calls. */
export class CallTotals {
  calls = 0
  failed = 0
  retries = 0
  readonly failures = new Map<string, number>()
  readonly #setup = new Distribution()
  readonly #reply = new Distribution()
  readonly #jitter = new Distribution()
  readonly #duration = new Distribution()
  #received = 0
  #lost = 0

  add(row: CallRow): void {
    this.calls++
    if (row.failures.length > 0) this.failed++
    if (row.retry > 0) this.retries++
    // A kind counts once a call.
    for (const kind of new Set(row.failures.map(failure => failure.kind)))
      this.failures.set(kind, (this.failures.get(kind) ?? 0) + 1)
    if (row.setup_ms !== null) this.#setup.add(row.setup_ms)
    for (const reply of row.reply_ms) this.#reply.add(reply)
    if (row.packets_received > 0) this.#jitter.add(row.jitter_max_ms)
    this.#duration.add(row.duration_ms)
    this.#received += row.packets_received
    this.#lost += row.packets_lost
  }

  figures(): CallFigures {
    return {
      calls: this.calls,
      failed: this.failed,
      retries: this.retries,
      failures: Object.fromEntries([...this.failures].sort(([, a], [, b]) => b - a)),
      setup_ms: quantilesOf(this.#setup),
      reply_ms: quantilesOf(this.#reply),
      jitter_max_ms: quantilesOf(this.#jitter),
      duration_ms: quantilesOf(this.#duration),
      packets_received: this.#received,
      packets_lost: this.#lost,
    }
  }
}
