import { createHash } from 'node:crypto'
import type { PolicyDecision, Receipt } from '@parley/conversation'
import type { Egress, EgressRequest, EgressResult } from '@parley/egress'
import { POLICY_VERSION } from '@parley/flow'
import { type Ms, type Random, randomToken, type Time, traceparentOf, type UnixMs } from '@parley/kernel'
import { retryUntilAnswered } from '@parley/runs'
import { type Database, type OutboxItem, type RunLedger, runLedger, type SecretValues, StoreError } from '@parley/store'
import type { JobLog } from '../protocol.ts'
import { signatureOf } from './signature.ts'

/** Time limit of a send, redirects included. */
const SEND_WITHIN_MS: Ms = 10_000
const ACTION = { id: 'webhook.send', version: 1 }
/** How long a response waits for a database that is away. The lease of the webhook lasts longer than this and a send. */
const STORE_WITHIN_MS: Ms = 15_000
/** A request that was sent is not aborted. */
const NEVER = new AbortController().signal

interface WebhookAttemptOptions {
  readonly database: Database
  readonly egress: Egress
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  readonly log: JobLog
}

/** `refused`: by the platform's own policy, so that a retry cannot succeed; `lost`: another process has the webhook. */
type AttemptOutcome = 'delivered' | 'failed' | 'refused' | 'lost'

/** One send of a webhook, as an effect of its run. */
export class WebhookAttempt {
  readonly #options: WebhookAttemptOptions
  readonly #item: OutboxItem
  readonly #ledger: RunLedger<'http', PolicyDecision, Receipt>

  constructor(options: WebhookAttemptOptions, item: OutboxItem) {
    this.#options = options
    this.#item = item
    const { database, random } = options
    this.#ledger = runLedger(database, item.scope, item, () => `webhook_${randomToken(random, 24)}`)
  }

  /** Settles the effects of senders that died. True: the receiver accepted an earlier send. Throws what the ledger throws. */
  async settleEarlier(): Promise<boolean> {
    const sends = (await this.#ledger.list()).filter(({ action }) => action.id === ACTION.id)
    for (const { effect_id, state } of sends)
      if (state === 'sending' || state === 'intended')
        await this.#ledger.settle(effect_id, {
          state: state === 'sending' ? 'uncertain' : 'failed',
          error_code: 'owner_lost',
        })
    const ofThis = `webhook/${this.#item.event_id}/`
    return sends.some(({ effect_key, state }) => effect_key.startsWith(ofThis) && state === 'succeeded')
  }

  /**
   * Stores the result of the send. Retries while the database is away: a result that is not stored makes the receiver get the
   * webhook again. Throws what `write` throws.
   */
  async store<Stored>(write: () => Promise<Stored>): Promise<Stored> {
    const { time } = this.#options
    const until = time.now() + STORE_WITHIN_MS
    const stored = await retryUntilAnswered(
      time,
      () => time.now() >= until,
      async () => ({ value: await write() }),
    )
    if (stored === undefined) throw new StoreError('database_unavailable')
    return stored.value
  }

  /** Throws what the ledger and `secrets` throw while the database is away; then nothing was sent, or the response is unknown. */
  async send(url: string, body: string, secrets: () => Promise<SecretValues>): Promise<AttemptOutcome> {
    try {
      return await this.#send(url, body, secrets)
    } catch (error) {
      if (StoreError.is(error, 'run_lost')) return 'lost'
      throw error
    }
  }

  async #send(url: string, body: string, secrets: () => Promise<SecretValues>): Promise<AttemptOutcome> {
    const { event_id, attempts } = this.#item
    const { effect_id: id } = await this.#ledger.intend({
      kind: 'http',
      action: ACTION,
      node_id: null,
      ordinal: attempts - 1,
      idempotent: true,
      effect_key: `webhook/${event_id}/${attempts}`,
    })
    const values = await this.#open(secrets)
    if (values === null) return this.#decided(id, 'unavailable', null, 'failed')
    if (values.pinned === null) return this.#decided(id, 'deny', 'secret_missing', 'refused')

    const { egress } = this.#options
    const prepared = await egress.prepare({ ...this.#request(url, body, values), timeoutMs: SEND_WITHIN_MS }, NEVER)
    if (prepared.type === 'refused' && prepared.reason === 'address_not_allowed')
      return this.#decided(id, 'deny', 'address_not_allowed', 'refused')
    if (prepared.type !== 'prepared') {
      const isRefused = prepared.type === 'refused'
      await this.#ledger.settle(id, { state: 'failed', error_code: isRefused ? 'bad_url' : 'not_connected' })
      return isRefused ? 'refused' : 'failed'
    }
    const allowed = { decision: 'allow', reason: null, policy_version: POLICY_VERSION } as const
    const { send_attempts } = await this.#ledger.permit(id, allowed)
    return this.#settle(id, await prepared.send(NEVER), send_attempts)
  }

  /** Null: the stored secret cannot be decrypted. */
  async #open(secrets: () => Promise<SecretValues>): Promise<SecretValues | null> {
    try {
      return await secrets()
    } catch (error) {
      if (StoreError.is(error, 'seal_broken')) {
        this.#options.log('the signing secret of a webhook cannot be decrypted; check PARLEY_MASTER_KEY', error)
        return null
      }
      throw error
    }
  }

  #request(url: string, body: string, { pinned, current }: SecretValues): Omit<EgressRequest, 'timeoutMs'> {
    const secrets = [pinned, current].filter(value => value !== null)
    const headers = {
      'content-type': 'application/json',
      traceparent: traceparentOf(this.#item.run_id),
      'parley-signature': signatureOf(secrets, body, this.#options.wallClock()),
    }
    // A redirect keeps the body: an answer to a request without the event does not mean that it was delivered.
    return { method: 'POST', url, headers, body, keepsBody: true }
  }

  async #decided(
    effectId: string,
    decision: 'deny' | 'unavailable',
    reason: PolicyDecision['reason'],
    outcome: AttemptOutcome,
  ): Promise<AttemptOutcome> {
    await this.#ledger.decide(effectId, { decision, reason, policy_version: POLICY_VERSION })
    return outcome
  }

  async #settle(effectId: string, result: EgressResult, sendAttempt: number): Promise<AttemptOutcome> {
    if (result.type !== 'answered') {
      const reason = result.type === 'refused' ? result.reason : result.type
      const error_code = result.type === 'no_answer' && result.reason === 'timeout' ? 'timeout' : reason
      const state = result.type === 'no_answer' ? 'uncertain' : 'failed'
      await this.store(() => this.#ledger.settle(effectId, { state, error_code }))
      return result.type === 'refused' ? 'refused' : 'failed'
    }
    const isFine = result.status >= 200 && result.status < 300
    const receipt: Receipt = {
      kind: 'http',
      status: result.status,
      response_sha256: result.truncated ? null : createHash('sha256').update(result.body).digest('hex'),
      response_bytes: result.body.length,
      duration_ms: Math.round(result.durationMs),
      send_attempt: sendAttempt,
    }
    const settlement = {
      state: isFine ? 'succeeded' : 'failed',
      receipts: [receipt],
      error_code: isFine ? null : `http_${result.status}`,
    } as const
    await this.store(() => this.#ledger.settle(effectId, settlement))
    return isFine ? 'delivered' : 'failed'
  }
}
