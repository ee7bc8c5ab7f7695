/** What a worker counts, by name; each only rises while the process lives. */
const COUNTED = [
  /** Rounds of sweeps that failed. */
  'sweep_failures',
  'runs_expired',
  'updates_expired',
  'engines_forgotten',
  'idempotency_forgotten',
  /** Runs taken over from owners that died, those of them released for another process, and the outcomes of hang-ups. */
  'runs_reaped',
  'runs_released',
  'hangups_confirmed',
  'hangups_unconfirmed',
  /** Webhook requests that were started, and the final outcomes of webhooks. */
  'webhook_sends',
  'webhooks_delivered',
  'webhooks_given_up',
  /** Events that the publication does not subscribe to. */
  'webhooks_skipped',
  'analyses_made',
  'analyses_failed',
  'analyses_given_up',
  /** Evaluations of alert rules, and those that made a notification. */
  'alerts_evaluated',
  'alerts_fired',
  /** Notification requests that were started, and the final outcomes of notifications. */
  'alert_sends',
  'alerts_delivered',
  'alerts_cancelled',
  'alerts_uncertain',
  /** Documents that joined a generation, and tries that ended otherwise. */
  'documents_embedded',
  'document_tries_failed',
  /** Trials of test runs with a result, and those that another process took or that were cancelled meanwhile. */
  'trials_settled',
  'trials_lost',
] as const

type JobCount = (typeof COUNTED)[number]
export type WorkerMetrics = Readonly<Record<JobCount, number>>

/** The counters of a worker, as plain numbers; the process that serves them gives them metric names. */
export class JobCounters {
  readonly #counts = new Map<JobCount, number>()

  add(name: JobCount, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count)
  }

  read(): WorkerMetrics {
    return Object.fromEntries(COUNTED.map(name => [name, this.#counts.get(name) ?? 0])) as WorkerMetrics
  }
}
