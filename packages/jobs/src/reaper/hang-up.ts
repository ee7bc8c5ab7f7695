import type { Receipt } from '@parley/conversation'
import { type Ms, ParleyError, type Time } from '@parley/kernel'
import { type Database, type LostRun, type RunLedger, runLedger } from '@parley/store'
import type { FarEnd, FarEndReply, JobLog } from '../protocol.ts'
import { before, until } from '../waiting.ts'

/** Before a far end that could not be reached is tried again. */
const PAUSE_MS: Ms = 3000
/** One for all reapers that a run comes to: it is one hang-up. */
const EFFECT_KEY = 'hangup/engine_lost'
const ACTION = { id: 'call.end', version: 1 }

export interface HangUpOptions {
  readonly database: Database
  readonly farEnd: FarEnd
  readonly time: Time
  readonly log: JobLog
}

const SILENT: FarEndReply = { confirmed: false, status: null, detail: 'no answer in time' }

/**
 * Ends the call of a run whose owner died, and keeps what the far end said. Resolves once it confirmed, at `deadline`, or
 * when `signal` aborts. The far end is told also where the ledger cannot be written just now: dead air is worse than a
 * row that is missing. Never rejects.
 */
export async function hangUp(
  options: HangUpOptions,
  run: LostRun,
  deadline: Ms,
  signal: AbortSignal,
): Promise<FarEndReply> {
  const { farEnd, time } = options
  const ask = askOf(farEnd, run)
  if (ask === null) {
    // Who called in, and was not answered, cannot be told by anybody else.
    await until(time, deadline, signal)
    return { ...SILENT, detail: 'no dialog is known' }
  }
  const row = new HangUpRow(options, run)
  if (await row.intend()) return { confirmed: true, status: null, detail: 'confirmed to an earlier reaper' }
  let reply = SILENT
  for (;;) {
    await row.sending()
    reply = (await before(time, deadline, signal, ask())) ?? reply
    if (reply.confirmed || signal.aborted || time.now() + PAUSE_MS >= deadline) break
    await until(time, time.now() + PAUSE_MS, signal)
  }
  await row.settle(reply)
  if (!reply.confirmed) await until(time, deadline, signal)
  return reply
}

function askOf(farEnd: FarEnd, { dialog, dial, phone_state }: LostRun): (() => Promise<FarEndReply>) | null {
  if (dialog !== null) return () => farEnd.bye(dialog)
  if (dial === null) return null
  if (phone_state !== 'active' && phone_state !== 'terminating') return () => farEnd.cancel(dial)
  // The answer to a CANCEL says nothing of a call that stands.
  return async () => ({ ...(await farEnd.cancel(dial)), confirmed: false })
}

/** The hang-up's row in the run's ledger, as far as it can be written. */
class HangUpRow {
  readonly #ledger: RunLedger<'sip_hangup', never, Receipt>
  readonly #runId: string
  readonly #log: JobLog
  /** Null: there is none, or it is settled. */
  #effectId: string | null = null

  constructor({ database, log }: HangUpOptions, run: LostRun) {
    this.#ledger = runLedger(database, run.scope, run, () => EFFECT_KEY)
    this.#runId = run.run_id
    this.#log = log
  }

  /** True: the far end confirmed to a reaper that died before it ended the run. */
  async intend(): Promise<boolean> {
    const effect = await this.#keep(() =>
      this.#ledger.intend({ kind: 'sip_hangup', action: ACTION, node_id: null, ordinal: null, idempotent: true }),
    )
    if (effect?.state === 'intended' || effect?.state === 'sending') this.#effectId = effect.effect_id
    return effect?.state === 'succeeded'
  }

  async sending(): Promise<void> {
    const effectId = this.#effectId
    if (effectId !== null) await this.#keep(() => this.#ledger.sending(effectId))
  }

  async settle({ confirmed, status, detail }: FarEndReply): Promise<void> {
    const effectId = this.#effectId
    if (effectId === null) return
    // Receipts have one kind that tells what SIP answered.
    const receipt: Receipt = {
      kind: 'sip_transfer',
      refer_status: null,
      final_sip_status: status,
      disconnect_reason: confirmed ? detail : `unconfirmed: ${detail}`,
    }
    await this.#keep(() =>
      confirmed
        ? this.#ledger.settle(effectId, { state: 'succeeded', receipts: [receipt] })
        : this.#ledger.settle(effectId, { state: 'uncertain', receipts: [receipt], error_code: 'unconfirmed' }),
    )
  }

  async #keep<Result>(step: () => Promise<Result>): Promise<Result | null> {
    try {
      return await step()
    } catch (error) {
      const isLost = error instanceof ParleyError && error.code === 'run_lost'
      if (!isLost) this.#log(`the hang-up of run ${this.#runId} is not written down`, error)
      return null
    }
  }
}
