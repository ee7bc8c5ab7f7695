import type { Scope } from '@parley/contract'
import type { Egress } from '@parley/egress'
import { type Ms, newSpanId, type Random, runTraceIds, type Time, type TraceSink, type UnixMs } from '@parley/kernel'
import type { EnvironmentQueue } from '@parley/runs'
import {
  type Database,
  type JsonObject,
  nextWebhookDueInMs,
  type OutboxItem,
  readRun,
  readSecretValues,
  type Sealer,
  type SendResult,
  settleSend,
  takeWebhooks,
} from '@parley/store'
import { EnvironmentRounds } from '../environment-rounds.ts'
import type { JobCounters } from '../metrics.ts'
import type { PlanCache } from '../plan-cache.ts'
import type { JobLog } from '../protocol.ts'
import { RETRY_AFTER_MS } from './retries.ts'
import { WebhookAttempt } from './webhook-attempt.ts'

/** Long enough for a send of 10 s and its writes. */
const LEASE_MS: Ms = 30_000
/** Environments served at once by one process. */
const ENVIRONMENTS_AT_ONCE = 64
/** Sends of one environment at once: a receiver that never responds holds each for 10 s. */
const SENDS_AT_ONCE = 8

export interface WebhookSenderOptions {
  readonly database: Database
  readonly queue: EnvironmentQueue
  readonly sealer: Sealer
  readonly egress: Egress
  readonly plans: PlanCache
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  readonly log: JobLog
  readonly counters: JobCounters
  /** Takes a span for each send. Default: tracing is off. */
  readonly trace?: TraceSink
  /** Default {@link ENVIRONMENTS_AT_ONCE}. */
  readonly environmentsAtOnce?: number
  /** Default {@link RETRY_AFTER_MS}. */
  readonly retryAfterMs?: readonly Ms[]
}

/** Sends agent webhooks: those of one run in order, those of different runs in parallel. Each attempt is an effect of its run. */
export class WebhookSender extends EnvironmentRounds<OutboxItem> {
  readonly #options: WebhookSenderOptions

  constructor(options: WebhookSenderOptions) {
    super({
      work: 'webhooks',
      queue: options.queue,
      environmentsAtOnce: options.environmentsAtOnce ?? ENVIRONMENTS_AT_ONCE,
      itemsAtOnce: SENDS_AT_ONCE,
      time: options.time,
    })
    this.#options = options
  }

  protected take(scope: Scope, atMost: number): Promise<readonly OutboxItem[]> {
    return this.#options.database.transaction(scope, tx => takeWebhooks(tx, scope, LEASE_MS, atMost), 'one-trip')
  }

  protected nextDueInMs(scope: Scope): Promise<number | null> {
    return nextWebhookDueInMs(this.#options.database.within(scope), scope)
  }

  /** Never rejects: what could not be settled is due again when its lease ends. */
  protected async carryOut(item: OutboxItem): Promise<void> {
    const { database, log } = this.#options
    try {
      const attempt = new WebhookAttempt(this.#options, item)
      const result = await this.#send(item, attempt)
      if (result !== null)
        await attempt.store(() => database.transaction(item.scope, tx => settleSend(tx, item, result), 'one-trip'))
    } catch (error) {
      log(`the webhook ${item.event} of run ${item.run_id} is not settled`, error)
    }
  }

  /** Null: another process has taken the webhook. */
  async #send(item: OutboxItem, attempt: WebhookAttempt): Promise<SendResult | null> {
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
    // Only after the process that made the last attempt died.
    const isBeyondLast = item.attempts > (this.#options.retryAfterMs ?? RETRY_AFTER_MS).length + 1
    // The receiver may have received an attempt of a process that died before it stored the response.
    if (item.attempts > 1 && (await attempt.settleEarlier())) return { kind: 'delivered' }
    if (!isBeyondLast) {
      counters.add('webhook_sends')
      const { event, event_id, occurred_at } = item
      const body = JSON.stringify({ event, event_id, occurred_at, trace_id: runTraceIds(runId).traceId, run })
      const secrets = () => readSecretValues(db, scope, sealer, notification.secret)
      const sentAt = this.#options.wallClock()
      const outcome = await attempt.send(notification.url, body, secrets)
      this.#traceSend(item, sentAt, outcome)
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

  #traceSend({ run_id, event, attempts }: OutboxItem, startMs: UnixMs, outcome: string): void {
    const { trace, wallClock, random } = this.#options
    if (trace === undefined) return
    const { traceId, run } = runTraceIds(run_id)
    trace({
      traceId,
      spanId: newSpanId(random),
      parentId: run,
      name: `webhook ${event}`,
      kind: 'client',
      startMs,
      endMs: wallClock(),
      attributes: { 'http.request.method': 'POST', 'http.request.resend_count': attempts - 1 },
      error: outcome === 'delivered' ? null : outcome,
    })
  }

  #planOf({ scope }: OutboxItem, run: JsonObject, plans: PlanCache) {
    const { agent_id, version } = run.publication as { agent_id: string; version: number }
    return plans.planOf(scope, agent_id, version)
  }
}
