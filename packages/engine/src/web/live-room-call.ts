import type { WebLeg } from '@parley/leg'
import type { OwnedRun } from '@parley/runs'
import { L16_PAYLOAD_TYPE, type LiveKitServer, type RoomProcess } from '@parley/webrtc'
import { RoomEffects } from './room-effects.ts'

/** The LiveKit server of web calls, and the process that joins its rooms. */
export interface Rooms {
  readonly server: Pick<LiveKitServer, 'url' | 'agentToken' | 'createRoom' | 'deleteRoom'>
  readonly process: Pick<RoomProcess, 'join'>
}

interface LiveRoomCallOptions {
  readonly run: OwnedRun
  readonly rooms: Rooms
  /** How long the visitor may take to join. */
  readonly visitorMs: number
  readonly onProblem: (what: string, error: unknown) => void
}

/** The room of a web call by LiveKit: created with the call, joined as the agent, deleted when the call is over. */
export class LiveRoomCall {
  readonly #options: LiveRoomCallOptions
  readonly #effects: RoomEffects
  /** Resolves when the creation is settled, so that the deletion comes after it. */
  #created: Promise<void> = Promise.resolve()

  constructor(options: LiveRoomCallOptions) {
    this.#options = options
    this.#effects = this.#effectsOf(options.run)
  }

  /** Creates the room and joins it; a failure of either ends the leg. Never rejects. */
  async start(leg: WebLeg): Promise<void> {
    const { run, rooms, visitorMs } = this.#options
    const { server, process } = rooms
    try {
      const creation = this.#effects.create(visitorMs)
      this.#created = creation.catch(() => {})
      await creation
      const token = await server.agentToken(run.runId)
      const peer = await process.join({ url: server.url, token, media: leg.mediaAddress })
      leg.connect(peer, { codec: 'L16', payloadType: L16_PAYLOAD_TYPE, fmtp: null })
    } catch (error) {
      this.#report(error)
      leg.lost(error instanceof Error ? error.message : String(error))
    }
  }

  /** Deletes the room, with which the visitor is out of it. `run`: the one that has the call at its end. Never rejects. */
  async end(run: OwnedRun): Promise<void> {
    await this.#created
    const error = await this.#effectsOf(run).end()
    if (error !== null) this.#report(error)
  }

  /** The room has the name of the call's first run. */
  #effectsOf({ ledger }: OwnedRun): RoomEffects {
    const { run, rooms } = this.#options
    return new RoomEffects(ledger, rooms.server, run.runId)
  }

  #report(error: unknown): void {
    this.#options.onProblem(`the room of web run ${this.#options.run.runId}`, error)
  }
}
