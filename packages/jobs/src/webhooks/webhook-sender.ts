import type { Egress } from '@parley/egress'
import type { Ms, Random, Time, UnixMs } from '@parley/kernel'
import {
  type Database,
  type JsonObject,
  type OutboxItem,
  readRun,
  readSecretValues,
  type Sealer,
  type SendResult,
  settleSend,
} from '@parley/store'
import { FairQueue } from '../fair-queue.ts'
import type { JobCounters } from '../metrics.ts'
import type { PlanCache } from '../plan-cache.ts'
import type { JobLog } from '../protocol.ts'
import { WebhookTry } from './webhook-try.ts'

/** After the first, second, … send; after the last the webhook is given up. */
const RETRY_AFTER_MS: readonly Ms[] = [1000, 5000, 30_000, 120_000, 600_000]
/** For a send of 10 s and what is written about it. */
const LEASE_MS: Ms = 30_000
const MOST_SENDS = 64
/** Of one tenant: a receiver that answers nothing keeps each for 10 s. */
const MOST_SENDS_EACH = 8

export interface WebhookSenderOptions {
  readonly database: Database
  readonly sealer: Sealer
  readonly egress: Egress
  readonly plans: PlanCache
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  readonly log: JobLog
  readonly counters: JobCounters
  /** A send ended whose place others may have waited for: time for a round. */
  readonly onRoom: () => void
  /** Default {@link RETRY_AFTER_MS}. */
  readonly retryAfterMs?: readonly Ms[]
}

/** Sends agent webhooks: in order within a run, of different runs side by side, each try an effect of the run; tenants take turns. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #crew: FairQueue<OutboxItem>

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    this.#crew = new FairQueue({
      size: MOST_SENDS,
      eachAtMost: MOST_SENDS_EACH,
      take: (atMost, share) => options.database.runs.takeOutbox(LEASE_MS, atMost, share),
      job: item => this.#handle(item),
      onRoom: options.onRoom,
    })
  }

  /** Takes what is due; true: there may be more. Throws while the database is away. */
  round(): Promise<boolean> {
    return this.#crew.fill()
  }

  /** Resolves when the sends under way are over. */
  close(): Promise<void> {
    return this.#crew.idle()
  }

  /** Never rejects: what could not be settled is due again when its lease ends. */
  async #handle(item: OutboxItem): Promise<void> {
    const { database, log } = this.#options
    try {
      const result = await this.#send(item)
      if (result !== null) await database.transaction(item.scope, tx => settleSend(tx, item, result))
    } catch (error) {
      log(`the webhook ${item.event} of run ${item.run_id} is not settled`, error)
    }
  }

  /** Null: another has it. */
  async #send(item: OutboxItem): Promise<SendResult | null> {
    const { database, sealer, plans, counters } = this.#options
    const { scope, run_id: runId } = item
    const db = database.within(scope)
    const run = item.payload ?? ((await readRun(db, scope, runId)) as JsonObject | null)
    const notification = run === null ? null : (await this.#planOf(item, run, plans))?.notification
    if (run === null || !notification?.events.includes(item.event as never)) {
      counters.add('webhooks_skipped')
      return { kind: 'given_up' }
    }
    const pauseMs = (this.#options.retryAfterMs ?? RETRY_AFTER_MS)[item.attempts - 1]
    const isLate = item.attempts > (this.#options.retryAfterMs ?? RETRY_AFTER_MS).length + 1
    const attempt = new WebhookTry(this.#options, item)
    // Of tries whose senders died: they may have been heard.
    if (item.attempts > 1) await attempt.settleEarlier()
    if (!isLate) {
      counters.add('webhook_sends')
      const { event, event_id, occurred_at } = item
      const body = JSON.stringify({ event, event_id, occurred_at, run })
      const secrets = () => readSecretValues(db, scope, sealer, notification.secret)
      const outcome = await attempt.send(notification.url, body, secrets)
      if (outcome === 'lost') return null
      if (outcome === 'delivered') {
        counters.add('webhooks_delivered')
        return { kind: 'delivered' }
      }
      if (outcome === 'failed' && pauseMs !== undefined) return { kind: 'again', inMs: pauseMs }
    }
    counters.add('webhooks_given_up')
    return { kind: 'given_up' }
  }

  #planOf({ scope }: OutboxItem, run: JsonObject, plans: PlanCache) {
    const { agent_id, version } = run.publication as { agent_id: string; version: number }
    return plans.planOf(scope, agent_id, version)
  }
}
