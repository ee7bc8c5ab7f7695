import type { EffectLedger } from '@parley/conversation'
import { type LiveKitServer, WebRtcError } from '@parley/webrtc'

/** The room of a run at its LiveKit server. */
type RoomServer = Pick<LiveKitServer, 'createRoom' | 'deleteRoom'>

const CREATE = { id: 'room.create', version: 1 }
const DELETE = { id: 'room.delete', version: 1 }
/** Sends of one creation: it is idempotent, a room that is there already stays. */
const MAX_SENDS = 2

/** The two effects of a run on its LiveKit server, each recorded before it is sent and settled with what the server said. */
export class RoomEffects {
  readonly #ledger: EffectLedger
  readonly #server: RoomServer
  readonly #runId: string

  constructor(ledger: EffectLedger, server: RoomServer, runId: string) {
    this.#ledger = ledger
    this.#server = server
    this.#runId = runId
  }

  /**
   * Creates the room; the receipt has its id. Throws what the ledger throws, and then nothing was sent, and the errors of the server:
   * the effect is `failed` after a refusal and `uncertain` without an answer.
   */
  async create(visitorMs: number): Promise<void> {
    const { effect_id } = await this.#ledger.intend({ kind: 'rtc_room', action: CREATE, node_id: null, ordinal: null })
    for (let sends = 1; ; sends++) {
      await this.#ledger.sending(effect_id)
      try {
        const resource_id = await this.#server.createRoom(this.#runId, visitorMs)
        await this.#settle(effect_id, { state: 'succeeded', receipts: [{ kind: 'rtc_room', resource_id }] })
        return
      } catch (error) {
        if (sends < MAX_SENDS && WebRtcError.is(error, 'livekit_unreachable')) continue
        await this.#settle(effect_id, settlementOf(error))
        throw error
      }
    }
  }

  /** Deletes the room. A failure of the ledger does not keep the visitor in it. Never rejects; resolves with the server's error. */
  async end(): Promise<unknown> {
    const effectId = await this.#sending().catch(() => null)
    try {
      const resource_id = await this.#server.deleteRoom(this.#runId)
      const receipts = [{ kind: 'rtc_room', resource_id }] as const
      if (effectId !== null) await this.#settle(effectId, { state: 'succeeded', receipts })
      return null
    } catch (error) {
      if (effectId !== null) await this.#settle(effectId, settlementOf(error))
      return error
    }
  }

  async #sending(): Promise<string> {
    const { effect_id } = await this.#ledger.intend({ kind: 'rtc_room', action: DELETE, node_id: null, ordinal: null })
    await this.#ledger.sending(effect_id)
    return effect_id
  }

  /** A row that cannot be written now becomes `uncertain` when the run ends. */
  async #settle(effectId: string, outcome: Parameters<EffectLedger['settle']>[1]): Promise<void> {
    await this.#ledger.settle(effectId, outcome).catch(() => {})
  }
}

function settlementOf(error: unknown): Parameters<EffectLedger['settle']>[1] {
  if (WebRtcError.is(error, 'room_refused')) return { state: 'failed', error_code: 'room_refused' }
  return { state: 'uncertain', error_code: 'no_answer' }
}
