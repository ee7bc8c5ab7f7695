import type { Receipt } from '@parley/conversation'
import { type Ms, type Semaphore, sleepUntil, type Time, withDeadline } from '@parley/kernel'
import {
  type Database,
  intendEffect,
  type JsonObject,
  type LostRun,
  type Queries,
  StoreError,
  sendEffect,
  settleEffect,
  sourceEndsCall,
} from '@parley/store'
import type { FarEnd, FarEndReply, JobLog } from '../protocol.ts'

/** Pause before a far end that did not confirm is tried again. */
const PAUSE_MS: Ms = 3000
const EFFECT = {
  // The same key for every reaper of a run: together they make one hang-up.
  effect_key: 'hangup/engine_lost',
  kind: 'sip_hangup',
  action: { id: 'call.end', version: 1 },
  node_id: null,
  ordinal: null,
  idempotent: true,
}

interface HangUpOptions {
  readonly database: Database
  /** Limits transactions: all calls of a large engine end at once. */
  readonly writes: Semaphore
  readonly farEnd: FarEnd
  readonly time: Time
  readonly log: JobLog
}

const SILENT: FarEndReply = { confirmed: false, status: null, detail: 'no answer in time' }

/** The far end's reply, and the id of the effect that records it; null: the effect could not be written. */
export interface HangUp {
  readonly reply: FarEndReply
  readonly effectId: string | null
}

/**
 * Ends the call of a run whose owner died; null: the run whose call it continued ends it. Resolves once the far end confirmed, at `deadline`, or when `signal` aborts;
 * call `storeReply` then in the transaction that ends the run. The request is sent even when the ledger cannot be written:
 * dead air is worse than a missing row. Never rejects.
 */
export async function hangUp(
  options: HangUpOptions,
  run: LostRun,
  deadline: Ms,
  signal: AbortSignal,
): Promise<HangUp | null> {
  const { farEnd, time } = options
  if (await isEndedBySource(options, run)) return null
  const request = requestOf(farEnd, run)
  if (request === null) {
    // An inbound call that was not answered can only be ended by the process that received it.
    await sleepUntil(time, deadline, signal)
    return { reply: { ...SILENT, detail: 'no dialog is known' }, effectId: null }
  }
  let effectId: string | null = null
  let reply = SILENT
  for (;;) {
    effectId = (await noteSend(options, run)) ?? effectId
    reply = (await withDeadline(time, deadline, signal, request())) ?? reply
    if (reply.confirmed || signal.aborted || time.now() + PAUSE_MS >= deadline) break
    await sleepUntil(time, time.now() + PAUSE_MS, signal)
  }
  if (!reply.confirmed) await sleepUntil(time, deadline, signal)
  return { reply, effectId }
}

/** An engine that died during a hand-over leaves two runs with the same dialog: one BYE is sent. */
async function isEndedBySource({ database, writes, log }: HangUpOptions, { scope, run_id }: LostRun): Promise<boolean> {
  try {
    return await writes.run(() => sourceEndsCall(database.within(scope), scope, run_id, EFFECT.effect_key))
  } catch (error) {
    // Two requests are better than none.
    log(`whether another run ends the call of run ${run_id} is not known`, error)
    return false
  }
}

/** Settles the effect with the far end's reply. Throws what the ledger throws. */
export async function storeReply(tx: Queries, run: LostRun, { reply, effectId }: HangUp): Promise<void> {
  if (effectId === null) return
  const { confirmed, status } = reply
  const receipt = { kind: 'sip_hangup', sip_status: status, confirmed } satisfies Receipt
  await settleEffect(tx, run.scope, run, effectId, {
    receipts: [receipt],
    ...(confirmed ? { state: 'succeeded' } : { state: 'uncertain', error_code: 'unconfirmed' }),
  })
}

function requestOf(farEnd: FarEnd, { dialog, dial, phone_state }: LostRun): (() => Promise<FarEndReply>) | null {
  if (dialog !== null)
    return () => {
      const reply = farEnd.bye(dialog)
      // What else may ring is cancelled beside it; only the BYE shows that the answered call is over.
      for (const attempt of earlierAttempts(dial)) void farEnd.cancel(attempt)
      return reply
    }
  if (dial === null) return null
  if (phone_state !== 'active' && phone_state !== 'terminating') return () => farEnd.cancel(dial)
  // The response to a CANCEL does not show that an answered call is over (RFC 3261 section 9).
  return async () => ({ ...(await farEnd.cancel(dial)), confirmed: false })
}

/** INVITEs of the same call to targets before the one that answered (`InviteAttempt` of the SIP room). */
function earlierAttempts(dial: JsonObject | null): JsonObject[] {
  const earlier = dial?.earlier
  if (!Array.isArray(earlier)) return []
  return earlier.filter(attempt => typeof attempt === 'object' && attempt !== null && !Array.isArray(attempt))
}

/** Records a send before it happens. Null: the database cannot be written now. */
async function noteSend({ database, writes, log }: HangUpOptions, run: LostRun): Promise<string | null> {
  const { scope } = run
  try {
    return await writes.run(() =>
      database.transaction(scope, async tx => {
        const { effect_id } = await intendEffect(tx, scope, run, EFFECT)
        await sendEffect(tx, scope, run, effect_id)
        return effect_id
      }),
    )
  } catch (error) {
    const isLost = StoreError.is(error, 'run_lost')
    if (!isLost) log(`the hang-up of run ${run.run_id} is not recorded`, error)
    return null
  }
}
