import type { ErrorCode } from '@parley/contract'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { watchProcess } from './process-metrics.ts'

/** One answered request, for the metrics and the log. */
export interface AnsweredRequest {
  readonly operation: string
  readonly status: number
  /** Null: the answer is not an error. */
  readonly code: ErrorCode | null
  readonly seconds: number
}

/** Number of connections of a pool, and of requests that wait for one. */
export interface PoolState {
  readonly total: number
  readonly idle: number
  readonly waiting: number
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The metrics of this API, in a registry of their own. The number of label values is bounded; no label names a tenant. */
export class ApiMetrics {
  readonly registry = new Registry()
  readonly #requests: Counter<'operation' | 'status' | 'code'>
  readonly #seconds: Histogram<'operation'>
  readonly #limited: Counter<'operation'>
  readonly #counted = new Map<string, Counter.Internal>()
  readonly #timed = new Map<string, Histogram.Internal<'operation'>>()

  constructor(pool: (() => PoolState) | undefined) {
    const registers = [this.registry]
    this.#requests = new Counter({
      name: 'parley_api_requests_total',
      help: 'Requests answered, by operation, HTTP status and error code (ok: none)',
      labelNames: ['operation', 'status', 'code'],
      registers,
    })
    this.#seconds = new Histogram({
      name: 'parley_api_request_seconds',
      help: 'From the headers of a request to the end of its answer',
      labelNames: ['operation'],
      buckets: BUCKETS,
      registers,
    })
    this.#limited = new Counter({
      name: 'parley_api_rate_limited_total',
      help: 'Requests refused by a rate limit',
      labelNames: ['operation'],
      registers,
    })
    watchProcess(this.registry)
    this.#watchPool(pool, registers)
  }

  record({ operation, status, code, seconds }: AnsweredRequest): void {
    const name = `${operation} ${status} ${code}`
    let counted = this.#counted.get(name)
    if (counted === undefined) {
      counted = this.#requests.labels(operation, String(status), code ?? 'ok')
      this.#counted.set(name, counted)
    }
    counted.inc()
    let timed = this.#timed.get(operation)
    if (timed === undefined) {
      timed = this.#seconds.labels(operation)
      this.#timed.set(operation, timed)
    }
    timed.observe(seconds)
    if (code === 'rate_limited') this.#limited.inc({ operation })
  }

  #watchPool(pool: (() => PoolState) | undefined, registers: Registry[]): void {
    if (pool === undefined) return
    new Gauge({
      name: 'parley_database_connections',
      help: 'Database connections by state; waiting: requests that wait for a connection',
      labelNames: ['state'],
      registers,
      collect() {
        const { total, idle, waiting } = pool()
        this.set({ state: 'busy' }, total - idle)
        this.set({ state: 'idle' }, idle)
        this.set({ state: 'waiting' }, waiting)
      },
    })
  }
}
