import type { Receipt } from '@parley/conversation'
import { ParleyError, type Semaphore } from '@parley/kernel'
import {
  type Database,
  intendEffect,
  type LostRun,
  type Queries,
  readWebCall,
  StoreError,
  sendEffect,
  settleEffect,
  sourceEndsCall,
  webCallRunId,
} from '@parley/store'
import type { JobLog, RoomServer } from '../protocol.ts'

const EFFECT = {
  // The same key for every reaper of a run: together they make one deletion.
  effect_key: 'room/engine_lost',
  kind: 'rtc_room',
  action: { id: 'room.delete', version: 1 },
  node_id: null,
  ordinal: null,
  idempotent: true,
}

interface EndRoomOptions {
  readonly database: Database
  readonly writes: Semaphore
  /** Null: this worker has no LiveKit server. */
  readonly rooms: RoomServer | null
  readonly log: JobLog
}

/** What the server said to the deletion of a room, and the id of its effect; null: the effect could not be written. */
export interface EndedRoom {
  readonly effectId: string | null
  readonly settlement: {
    readonly state: 'succeeded' | 'failed' | 'uncertain'
    readonly receipts?: readonly Receipt[]
    readonly error_code?: string
  }
}

/**
 * Deletes the room of a web call by LiveKit whose engine died: the visitor is alone in it. Null: the run has no room. Call
 * `storeRoomEnd` in the transaction that ends the run. Never rejects.
 */
export async function endRoom(options: EndRoomOptions, run: LostRun): Promise<EndedRoom | null> {
  const { database, writes, rooms, log } = options
  const { scope, run_id, kind } = run
  if (kind !== 'web' || rooms === null) return null
  const room = await writes.run(() => roomOf(database.within(scope), run)).catch(() => null)
  if (room === null) return null
  const effectId = await noteSend(options, run)
  try {
    const resource_id = await rooms.deleteRoom(room)
    return { effectId, settlement: { state: 'succeeded', receipts: [{ kind: 'rtc_room', resource_id }] } }
  } catch (error) {
    log(`the room of web run ${run_id} is not deleted`, error)
    const isRefused = error instanceof ParleyError && error.code === 'room_refused'
    return {
      effectId,
      settlement: isRefused
        ? { state: 'failed', error_code: 'room_refused' }
        : { state: 'uncertain', error_code: 'no_answer' },
    }
  }
}

/** The name of the room to delete: the id of the call's first run. Null: there is none, or the run that this one continues deletes it. */
async function roomOf(db: Queries, { scope, run_id }: LostRun): Promise<string | null> {
  const first = await webCallRunId(db, scope, run_id)
  const call = await readWebCall(db, scope, first)
  if (call?.kind !== 'livekit') return null
  return first !== run_id && (await sourceEndsCall(db, scope, run_id, EFFECT.effect_key)) ? null : first
}

/** Settles the effect. Throws what the ledger throws. */
export async function storeRoomEnd(tx: Queries, run: LostRun, { effectId, settlement }: EndedRoom): Promise<void> {
  if (effectId !== null) await settleEffect(tx, run.scope, run, effectId, settlement)
}

/** Records the send before it happens. Null: the database cannot be written now. */
async function noteSend({ database, writes, log }: EndRoomOptions, run: LostRun): Promise<string | null> {
  try {
    return await writes.run(() =>
      database.transaction(run.scope, async tx => {
        const { effect_id } = await intendEffect(tx, run.scope, run, EFFECT)
        await sendEffect(tx, run.scope, run, effect_id)
        return effect_id
      }),
    )
  } catch (error) {
    if (!StoreError.is(error, 'run_lost')) log(`the end of the room of run ${run.run_id} is not recorded`, error)
    return null
  }
}
