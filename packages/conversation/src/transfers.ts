import { type Ms, ParleyError, type Time } from '@parley/kernel'
import type { EffectIntent, EffectLedger, EffectRecord, PolicyDecision, Receipt } from './ledger.ts'
import type { TimelineFact } from './timeline.ts'

interface TransferRequest {
  readonly requestId: string
  readonly kind: 'sip_transfer' | 'run_admission'
  /** Decides whether it may be sent, once it is ready. */
  readonly policy: () => PolicyDecision
  readonly action: EffectIntent['action']
  readonly nodeId: string
  readonly ordinal: number
  /** Resolves to true when preceding speech has ended; false: the conversation is over. */
  readonly ready: () => Promise<boolean>
  /** Requests the transfer. `effectId`: its row in the ledger. */
  readonly send: (effectId: string) => void
}

interface TransferOptions {
  readonly ledger: EffectLedger
  readonly time: Time
  readonly onFact: (fact: TimelineFact) => void
}

interface SentTransfer {
  readonly request: TransferRequest
  readonly effectId: string
  readonly startedAt: Ms
  readonly written: () => void
}

type Phase = Extract<TimelineFact, { kind: 'action' }>['phase']

const UNAVAILABLE: PolicyDecision = { decision: 'unavailable', reason: null, policy_version: '1' }

/** Transfers, to numbers and to other agents, as ledger effects: each is recorded and allowed by the policy before it is requested. */
export class Transfers {
  readonly #options: TransferOptions
  readonly #sent = new Map<string, SentTransfer>()
  readonly #unwritten = new Set<Promise<void>>()

  constructor(options: TransferOptions) {
    this.#options = options
  }

  /** Resolves to true when the transfer was requested; false: nothing was sent and the transfer has failed. Never rejects. */
  async begin(request: TransferRequest): Promise<boolean> {
    let effectId: string | null = null
    try {
      const row = await this.#intend(request)
      effectId = row.effect_id
      this.#fact(request, effectId, 'started', null)
      const refusal = await this.#refusal(request, effectId)
      if (refusal === null) {
        await this.#options.ledger.sending(effectId)
        this.#send(request, effectId)
        return true
      }
      this.#error(refusal.code, `The transfer was not made: ${refusal.reason}.`)
    } catch (error) {
      // An effect without a ledger row must not be sent.
      const code = error instanceof ParleyError ? error.code : 'ledger_unavailable'
      this.#error(code, 'The transfer was not made because the ledger could not record it.')
    }
    if (effectId !== null) this.#fact(request, effectId, 'failed', null)
    return false
  }

  #intend({ kind, action, nodeId, ordinal }: TransferRequest): Promise<EffectRecord> {
    return this.#options.ledger.intend({ kind, action, node_id: nodeId, ordinal })
  }

  /**
   * Why the transfer may not be sent, after settling its row; null: it may. The policy is evaluated only when the transfer is
   * ready, because an allowed transfer counts against the call limits.
   */
  async #refusal(
    request: TransferRequest,
    effectId: string,
  ): Promise<{ readonly code: string; readonly reason: string } | null> {
    if (!(await request.ready())) return this.#denyAfterEnd(effectId)
    const { decision, state } = await this.#options.ledger.decide(effectId, verdict(request.policy))
    const isAllowed = decision?.decision === 'allow' && state === 'intended'
    if (!isAllowed) return this.#refused(effectId, state, 'policy_denied', decision?.reason ?? 'no policy decision')
    return (await request.ready()) ? null : this.#denyAfterEnd(effectId)
  }

  #denyAfterEnd(effectId: string) {
    return this.#refused(effectId, 'intended', 'run_not_active', 'the conversation is over')
  }

  async #refused(effectId: string, state: EffectRecord['state'], code: string, reason: string) {
    if (state === 'intended') await this.#options.ledger.settle(effectId, { state: 'failed', error_code: code })
    return { code, reason }
  }

  #send(request: TransferRequest, effectId: string): void {
    const { promise, resolve: written } = Promise.withResolvers<void>()
    this.#unwritten.add(promise)
    void promise.then(() => this.#unwritten.delete(promise))
    this.#sent.set(request.requestId, { request, effectId, startedAt: this.#options.time.now(), written })
    request.send(effectId)
  }

  /** Returns false when no transfer with this id is pending. */
  settle(requestId: string, outcome: 'taken' | 'failed', receipt: Receipt | null): boolean {
    const transfer = this.#sent.get(requestId)
    if (transfer === undefined) return false
    if (outcome === 'taken') this.#end(transfer, 'succeeded', receipt, null)
    else this.#end(transfer, 'failed', receipt, 'transfer_failed')
    return true
  }

  /** Settles sent transfers as uncertain: after a hang-up no outcome is reported any more. */
  abandon(): void {
    for (const transfer of [...this.#sent.values()]) this.#end(transfer, 'uncertain', null, 'run_ended')
  }

  #end(
    { request, effectId, startedAt, written }: SentTransfer,
    state: 'succeeded' | 'failed' | 'uncertain',
    receipt: Receipt | null,
    error_code: string | null,
  ): void {
    const { ledger, time } = this.#options
    this.#sent.delete(request.requestId)
    this.#fact(request, effectId, state, time.now() - startedAt)
    void Promise.resolve()
      .then(() => ledger.settle(effectId, { state, receipts: receipt === null ? [] : [receipt], error_code }))
      .then(written, () => {
        this.#error('ledger_unavailable', 'The ledger could not record the outcome of the transfer.')
        written()
      })
  }

  /** Whether a sent transfer is pending or not yet settled in the ledger. */
  get isUnderWay(): boolean {
    return this.#unwritten.size > 0
  }

  async over(): Promise<void> {
    while (this.#unwritten.size > 0) await Promise.all(this.#unwritten)
  }

  #fact({ action, nodeId }: TransferRequest, effectId: string, phase: Phase, duration_ms: Ms | null): void {
    this.#options.onFact({
      kind: 'action',
      action_id: action.id,
      effect_id: effectId,
      phase,
      node_id: nodeId,
      duration_ms,
    })
  }

  #error(code: string, message: string): void {
    this.#options.onFact({ kind: 'error', code, message })
  }
}

function verdict(policy: () => PolicyDecision): PolicyDecision {
  try {
    return policy()
  } catch {
    return UNAVAILABLE
  }
}
