import { createHash } from 'node:crypto'
import type { Egress, EgressRequest, EgressResult, PreparedRequest } from '@parley/egress'
import { type HttpAction, POLICY_VERSION } from '@parley/flow'
import type { Ms, Time, UnixMs } from '@parley/kernel'
import type { EffectLedger, EffectRecord, PolicyReason, Receipt } from '../ledger.ts'
import type { ActionOutcome, ActionRequest } from '../ports.ts'
import { answerBody } from './answer-body.ts'
import { answeredInTime } from './answered-in-time.ts'
import { authenticationHeader } from './authentication.ts'
import { type HttpRequest, httpRequest } from './http-request.ts'
import type { Secrets } from './secrets.ts'

export interface HttpActionsOptions {
  readonly egress: Egress
  readonly ledger: EffectLedger
  readonly secrets: Secrets
  readonly time: Time
  /** For signatures. */
  readonly wallClock: () => UnixMs
  /** Timeout of each call to the ledger and to secrets; after it nothing is sent. Default 5000. */
  readonly portTimeoutMs?: Ms
}

const MAX_SENDS = 3
/** Pauses before the second and the third send. */
const PAUSES_MS: readonly Ms[] = [200, 1000]

/** A sent request is never aborted, even when the conversation ends. */
const NEVER = new AbortController().signal

/** One use of an action, from its ledger row to its outcome. */
export class HttpActionCall {
  readonly #options: Required<HttpActionsOptions>
  readonly #request: ActionRequest<HttpAction>
  readonly #signal: AbortSignal
  readonly #startedAt: Ms
  readonly #deadline: Ms
  #effect: EffectRecord | undefined
  #sent = false
  readonly #receipts: Receipt[] = []

  constructor(options: Required<HttpActionsOptions>, request: ActionRequest<HttpAction>, signal: AbortSignal) {
    this.#options = options
    this.#request = request
    this.#signal = signal
    this.#startedAt = options.time.now()
    this.#deadline = this.#startedAt + request.action.timeout_ms
  }

  /** Never rejects. */
  async run(): Promise<ActionOutcome> {
    try {
      return await this.#run()
    } catch {
      return this.#sent ? this.#settle('uncertain', 'no_answer') : this.#settle('failed', 'internal')
    }
  }

  async #run(): Promise<ActionOutcome> {
    const { action, node_id, ordinal, call } = this.#request
    const { action_id: id, version } = action
    this.#effect = await this.#ledger(ledger =>
      ledger.intend({ kind: 'http', action: { id, version }, node_id, ordinal }),
    )
    if (this.#effect === undefined) return this.#outcome('failed', 'ledger_unavailable')
    this.#request.onPhase({ phase: 'started', effect_id: this.#effect.effect_id })

    const filled = httpRequest(action, this.#request.arguments, call, this.#request.render)
    if (typeof filled === 'string') return this.#settle('failed', filled)
    const headers = await this.#headers(filled)
    if (typeof headers === 'string') return headers === 'unavailable' ? this.#refuse(null) : this.#refuse(headers)
    const { url, body } = filled
    const request = { method: action.method, url, headers, keepsBody: true, ...(body === undefined ? {} : { body }) }

    const prepared = await this.#prepare(request, this.#signal)
    if (this.#signal.aborted) return this.#refuse('run_not_active')
    if (prepared.type === 'refused')
      return prepared.reason === 'bad_url' ? this.#settle('failed', 'bad_url') : this.#refuse('address_not_allowed')
    if (prepared.type === 'not_connected') return this.#settle('failed', 'not_connected')
    const refused = await this.#decide('allow', null)
    if (refused !== undefined) return refused
    const mayBeSent = await (this.#request.hold ?? true)
    if (this.#signal.aborted) return this.#settle('failed', 'run_not_active')
    if (!mayBeSent) return this.#settle('failed', 'superseded')
    return this.#sendUntilAnswered(prepared, request)
  }

  /** The headers with idempotency key and authentication; a string when the secret cannot be read. */
  async #headers(filled: HttpRequest): Promise<Record<string, string> | 'secret_missing' | 'unavailable'> {
    const { auth, idempotency } = this.#request.action
    const { secrets, wallClock, time, portTimeoutMs } = this.#options
    const headers = { ...filled.headers }
    if (idempotency === 'effect_key') headers['idempotency-key'] = this.#effect!.effect_key
    if (auth === null) return headers
    const secret = await answeredInTime(time, portTimeoutMs, () => secrets.get(auth.secret))
    if (secret === undefined) return 'unavailable'
    if (secret.value === null) return 'secret_missing'
    const [name, value] = authenticationHeader(auth, secret.value, filled.body ?? '', wallClock())
    return { ...headers, [name]: value }
  }

  async #sendUntilAnswered(first: PreparedRequest, request: Omit<EgressRequest, 'timeoutMs'>): Promise<ActionOutcome> {
    let result = await this.#send(first)
    if (result === undefined) return this.#settle('failed', 'ledger_unavailable')
    for (const pause of PAUSES_MS.slice(0, MAX_SENDS - 1)) {
      if (!this.#isRetryable(result) || this.#remaining() <= pause) break
      await this.#pause(pause)
      const again = await this.#prepare(request, NEVER)
      const next = again.type === 'prepared' ? await this.#send(again) : again
      // A retry that never connected does not change the outcome of the attempts before it.
      if (next?.type === 'answered' || next?.type === 'no_answer') result = next
    }
    return this.#conclude(result)
  }

  #isRetryable(result: EgressResult): boolean {
    const { method, idempotency } = this.#request.action
    const lost = result.type === 'no_answer' || (result.type === 'answered' && result.status >= 500)
    return lost && (method === 'GET' || idempotency === 'effect_key')
  }

  /** Undefined: the ledger did not record the send, so nothing was sent. */
  async #send(prepared: PreparedRequest): Promise<EgressResult | undefined> {
    const effect = await this.#ledger(ledger => ledger.sending(this.#effect!.effect_id))
    if (effect === undefined) return undefined
    this.#effect = effect
    this.#sent = true
    const result = await prepared.send(NEVER)
    if (result.type === 'answered') this.#receipts.push(receipt(result, effect.send_attempts))
    return result
  }

  #conclude(result: EgressResult): Promise<ActionOutcome> {
    switch (result.type) {
      case 'answered': {
        const succeeded = result.status >= 200 && result.status < 300
        const code = succeeded ? null : `http_${result.status}`
        return this.#settle(succeeded ? 'succeeded' : 'failed', code, answerBody(result.body))
      }
      case 'no_answer':
        return this.#settle('uncertain', result.reason === 'timeout' ? 'timeout' : 'no_answer')
      case 'not_connected':
        return this.#settle('failed', 'not_connected')
      case 'refused':
        return this.#settle('failed', result.reason)
    }
  }

  #prepare(request: Omit<EgressRequest, 'timeoutMs'>, signal: AbortSignal) {
    return this.#options.egress.prepare({ ...request, timeoutMs: this.#remaining() }, signal)
  }

  /** Denies the effect; without a reason, records that no decision was available. */
  async #refuse(reason: PolicyReason | null): Promise<ActionOutcome> {
    const refused = await this.#decide(reason === null ? 'unavailable' : 'deny', reason)
    return refused ?? this.#settle('failed', 'policy_denied')
  }

  /** Records the decision; returns the final outcome unless the effect is allowed. */
  async #decide(
    decision: 'allow' | 'deny' | 'unavailable',
    reason: PolicyReason | null,
  ): Promise<ActionOutcome | undefined> {
    const verdict = { decision, reason, policy_version: POLICY_VERSION }
    const effect = await this.#ledger(ledger => ledger.decide(this.#effect!.effect_id, verdict))
    if (effect === undefined) return this.#outcome('failed', 'ledger_unavailable')
    this.#effect = effect
    if (effect.decision?.decision === 'allow' && effect.state === 'intended') return undefined
    return this.#outcome('failed', effect.error_code ?? 'policy_denied')
  }

  /** The outcome holds even when the ledger fails; the sweep of the ledger then settles the row as uncertain. */
  async #settle(
    outcome: ActionOutcome['outcome'],
    error_code: string | null,
    body: unknown = null,
  ): Promise<ActionOutcome> {
    const effect = this.#effect
    if (effect !== undefined)
      await this.#ledger(ledger =>
        ledger.settle(effect.effect_id, { state: outcome, receipts: this.#receipts, error_code }),
      )
    return this.#outcome(outcome, error_code, body)
  }

  async #ledger(ask: (ledger: EffectLedger) => Promise<EffectRecord>): Promise<EffectRecord | undefined> {
    const { ledger, time, portTimeoutMs } = this.#options
    return (await answeredInTime(time, portTimeoutMs, () => ask(ledger)))?.value
  }

  #outcome(outcome: ActionOutcome['outcome'], error_code: string | null, body: unknown = null): ActionOutcome {
    const durationMs = Math.round(this.#options.time.now() - this.#startedAt)
    return { outcome, body, effect_id: this.#effect?.effect_id ?? '', error_code, durationMs }
  }

  #pause(ms: Ms): Promise<void> {
    const { time } = this.#options
    return new Promise(resolve => time.at(time.now() + ms, resolve))
  }

  #remaining(): Ms {
    return Math.max(0, this.#deadline - this.#options.time.now())
  }
}

function receipt(answer: Extract<EgressResult, { type: 'answered' }>, send_attempt: number): Receipt {
  return {
    kind: 'http',
    status: answer.status,
    response_sha256: answer.truncated ? null : createHash('sha256').update(answer.body).digest('hex'),
    response_bytes: answer.body.length,
    duration_ms: Math.round(answer.durationMs),
    send_attempt,
  }
}
