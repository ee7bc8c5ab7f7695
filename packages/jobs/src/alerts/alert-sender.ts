import type { Scope } from '@parley/contract'
import type { Egress, EgressResult } from '@parley/egress'
import type { Ms, Time, UnixMs } from '@parley/kernel'
import { type EnvironmentQueue, retryUntilAnswered } from '@parley/runs'
import {
  type AlertDeliveryResult,
  type AlertTarget,
  type Database,
  intendAlertDelivery,
  nextAlertDeliveryDueInMs,
  readAlertRule,
  readAlertTarget,
  type Sealer,
  StoreError,
  settleAlertDelivery,
  type TakenDelivery,
  takeAlertDeliveries,
  tenantSettings,
} from '@parley/store'
import { EnvironmentRounds } from '../environment-rounds.ts'
import type { JobCounters } from '../metrics.ts'
import type { JobLog } from '../protocol.ts'
import { RETRY_AFTER_MS } from '../webhooks/retries.ts'
import { signatureOf } from '../webhooks/signature.ts'
import { alertBody } from './alert-message.ts'

/** Time limit of a send, redirects included. */
const SEND_WITHIN_MS: Ms = 10_000
/** How long the answer of a send waits for a database that is away. */
const STORE_WITHIN_MS: Ms = 15_000
/** Longer than a send and the storing of its answer. */
const LEASE_MS: Ms = 30_000
/** Environments served at once by one process. */
const ENVIRONMENTS_AT_ONCE = 64
/** Sends of one environment at once. */
const SENDS_AT_ONCE = 8
/** A request that was sent is not aborted. */
const NEVER = new AbortController().signal

interface AlertSenderOptions {
  readonly database: Database
  readonly queue: EnvironmentQueue
  readonly sealer: Sealer
  readonly egress: Egress
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
  readonly counters: JobCounters
  /** Takes paging events: an events API of version 2. */
  readonly pagingUrl: string
  /** Pauses between the sends of a delivery that was not accepted. Default {@link RETRY_AFTER_MS}. */
  readonly retryAfterMs?: readonly Ms[]
  /** Default {@link LEASE_MS}; for tests and proofs. */
  readonly alertLeaseMs?: Ms
}

/**
 * Sends notifications of alert rules. The intent to send is committed before each request. A refused request is repeated like a
 * webhook; one without an answer is never repeated, because it may have arrived.
 */
export class AlertSender extends EnvironmentRounds<TakenDelivery> {
  readonly #options: AlertSenderOptions

  constructor(options: AlertSenderOptions) {
    super({
      work: 'alert_deliveries',
      queue: options.queue,
      environmentsAtOnce: ENVIRONMENTS_AT_ONCE,
      itemsAtOnce: SENDS_AT_ONCE,
      time: options.time,
    })
    this.#options = options
  }

  protected take(scope: Scope, atMost: number): Promise<readonly TakenDelivery[]> {
    const { database, alertLeaseMs = LEASE_MS } = this.#options
    return database.transaction(scope, tx => takeAlertDeliveries(tx, scope, alertLeaseMs, atMost))
  }

  protected nextDueInMs(scope: Scope): Promise<number | null> {
    return nextAlertDeliveryDueInMs(this.#options.database.within(scope), scope)
  }

  /** Never rejects: what could not be settled is due again, or uncertain, when its lease ends. */
  protected async carryOut(taken: TakenDelivery): Promise<void> {
    const { counters, log } = this.#options
    try {
      const result = await this.#send(taken)
      if (result === null || !(await this.#settle(taken, result))) return
      if (result.kind !== 'again') counters.add(`alerts_${result.kind}`)
    } catch (error) {
      log(`the delivery ${taken.delivery_id} of the alert rule ${taken.alert_id} is not settled`, error)
    }
  }

  /** Null: nothing was sent, because the delivery was cancelled or another worker has it. */
  async #send(taken: TakenDelivery): Promise<AlertDeliveryResult | null> {
    const { database, egress, counters } = this.#options
    const { scope } = taken
    const target = await this.#target(taken)
    if (target === null) return { kind: 'cancelled', errorCode: 'destination_unavailable' }
    if (typeof target === 'string') return { kind: 'cancelled', errorCode: target }
    const request = await this.#request(taken, target)
    if (request === null) return null
    const prepared = await egress.prepare(request, NEVER)
    if (prepared.type === 'refused') return { kind: 'cancelled', errorCode: prepared.reason }
    if (prepared.type === 'not_connected') return this.#again(taken, 'not_connected')
    if (!(await database.transaction(scope, tx => intendAlertDelivery(tx, taken, target.revision)))) return null
    counters.add('alert_sends')
    return this.#resultOf(taken, await prepared.send(NEVER))
  }

  async #target(taken: TakenDelivery): Promise<AlertTarget | 'secret_missing' | 'secret_unreadable' | null> {
    const { database, sealer, log } = this.#options
    try {
      return await readAlertTarget(database.within(taken.scope), taken.scope, sealer, taken)
    } catch (error) {
      if (!StoreError.is(error, 'seal_broken')) throw error
      log('the destination of an alert rule cannot be decrypted; check PARLEY_MASTER_KEY', error)
      return 'secret_unreadable'
    }
  }

  /** Null: the delivery is not the rule's latest any more. */
  async #request(taken: TakenDelivery, { value, secrets, revision }: AlertTarget) {
    const { database, pagingUrl, wallClock } = this.#options
    const { scope, destination_kind: kind } = taken
    const db = database.within(scope)
    const [rule, environment] = await Promise.all([readAlertRule(db, scope, taken.alert_id), tenantSettings(db, scope)])
    const latest = rule?.latest_delivery ?? null
    if (rule === null || latest?.id !== taken.delivery_id) return null
    const delivery = {
      ...latest,
      status: 'sending' as const,
      destination_revision: revision,
      send_intent_at: taken.taken_at,
    }
    const message = {
      delivery,
      rule: { ...rule, latest_delivery: delivery },
      scope,
      environmentName: environment.display_name ?? environment.name,
    }
    const body = alertBody(message, kind === 'paging' ? value : '')
    const signature = kind === 'webhook' ? { 'parley-signature': signatureOf(secrets, body, wallClock()) } : {}
    return {
      method: 'POST' as const,
      url: kind === 'paging' ? pagingUrl : value,
      headers: { 'content-type': 'application/json', ...signature },
      body,
      // A redirect keeps the body: an answer to a request without the event does not mean that it was delivered.
      keepsBody: true,
      timeoutMs: SEND_WITHIN_MS,
    }
  }

  #resultOf(taken: TakenDelivery, result: EgressResult): AlertDeliveryResult {
    switch (result.type) {
      case 'answered':
        return result.status >= 200 && result.status < 300
          ? { kind: 'delivered' }
          : this.#again(taken, `http_${result.status}`)
      case 'not_connected':
        return this.#again(taken, 'not_connected')
      case 'refused':
        return { kind: 'cancelled', errorCode: result.reason }
      case 'no_answer':
        return { kind: 'uncertain', errorCode: result.reason === 'timeout' ? 'timeout' : 'no_answer' }
    }
  }

  #again({ attempts }: TakenDelivery, errorCode: string): AlertDeliveryResult {
    const inMs = (this.#options.retryAfterMs ?? RETRY_AFTER_MS)[attempts - 1]
    return inMs === undefined ? { kind: 'cancelled', errorCode } : { kind: 'again', inMs, errorCode }
  }

  /** Retries while the database is away: an answer that is not stored leaves the delivery uncertain. */
  async #settle(taken: TakenDelivery, result: AlertDeliveryResult): Promise<boolean> {
    const { database, time } = this.#options
    const until = time.now() + STORE_WITHIN_MS
    const settled = await retryUntilAnswered(
      time,
      () => time.now() >= until,
      async () => ({ value: await database.transaction(taken.scope, tx => settleAlertDelivery(tx, taken, result)) }),
    )
    if (settled === undefined) throw new StoreError('database_unavailable')
    return settled.value
  }
}
