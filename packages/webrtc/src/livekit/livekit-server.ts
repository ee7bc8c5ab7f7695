import { WebRtcError } from '../errors.ts'
import { AGENT, VISITOR } from './room-protocol.ts'

/** A LiveKit server and its key pair. */
export interface LiveKitAccess {
  /** WebSocket address by which Parley reaches the server: `wss://livekit.example`. */
  readonly url: string
  /** WebSocket address for browsers. */
  readonly publicUrl: string
  readonly apiKey: string
  readonly apiSecret: string
}

/** Longest wait for an answer of the server, s. */
const REQUEST_S = 4
/** A room in which nobody is, or the agent alone, is closed by the server this long after the visitor's token expired, s. */
const SPARE_S = 60
/** The same, after the visitor left: a visitor whose path was lost may come back, s. */
const DEPARTURE_S = 30
/** The agent joins at once; its connection outlives the token. */
const AGENT_TOKEN_MS = 60_000

/** Name of the room of a run. */
function roomOf(runId: string): string {
  return `parley-${runId}`
}

/** Makes the tokens of rooms, and creates and deletes rooms, on one LiveKit server. */
export class LiveKitServer {
  readonly #access: LiveKitAccess

  constructor(access: LiveKitAccess) {
    this.#access = access
  }

  /** Address of the server for this process. */
  get url(): string {
    return this.#access.url
  }

  /** Address and token with which a browser joins the run's room: as the one visitor, with its microphone and data. */
  async visitorAccess(runId: string, validForMs: number): Promise<{ readonly url: string; readonly token: string }> {
    const { TrackSource } = await import('livekit-server-sdk')
    const token = await this.#token(runId, VISITOR, validForMs, {
      canPublish: true,
      canPublishSources: [TrackSource.MICROPHONE],
      canSubscribe: true,
      canPublishData: true,
      canUpdateOwnMetadata: false,
    })
    return { url: this.#access.publicUrl, token }
  }

  /** Token with which the agent joins the run's room. */
  agentToken(runId: string): Promise<string> {
    return this.#token(runId, AGENT, AGENT_TOKEN_MS, { canPublish: true, canSubscribe: true, canPublishData: true })
  }

  /**
   * Creates the run's room; one that is there already stays. Returns its id. `visitorMs`: how long the visitor may take. Throws
   * "room_refused", and "livekit_unreachable", where the room may exist.
   */
  async createRoom(runId: string, visitorMs: number): Promise<string> {
    const rooms = await this.#rooms()
    const room = await answered(
      rooms.createRoom({
        name: roomOf(runId),
        emptyTimeout: Math.ceil(visitorMs / 1000) + SPARE_S,
        departureTimeout: DEPARTURE_S,
      }),
    )
    return room.sid
  }

  /**
   * Deletes the run's room, with which everybody is out of it; returns its name. Throws as `createRoom`; a room that is not there is no
   * error.
   */
  async deleteRoom(runId: string): Promise<string> {
    const rooms = await this.#rooms()
    await answered(rooms.deleteRoom(roomOf(runId))).catch((error: unknown) => {
      if (!WebRtcError.is(error, 'room_not_found')) throw error
    })
    return roomOf(runId)
  }

  async #rooms() {
    const { RoomServiceClient } = await import('livekit-server-sdk')
    const { url, apiKey, apiSecret } = this.#access
    return new RoomServiceClient(url, apiKey, apiSecret, { requestTimeout: REQUEST_S, failover: false })
  }

  async #token(runId: string, identity: string, validForMs: number, grant: object): Promise<string> {
    const { AccessToken } = await import('livekit-server-sdk')
    const { apiKey, apiSecret } = this.#access
    const token = new AccessToken(apiKey, apiSecret, { identity, ttl: Math.ceil(validForMs / 1000) })
    token.addGrant({ ...grant, roomJoin: true, room: roomOf(runId) })
    if (identity === AGENT) token.kind = 'agent'
    return token.toJwt()
  }
}

/** The answer of the server. An HTTP status below 500 is a refusal; after any other failure the request may have had its effect. */
async function answered<Answer>(request: Promise<Answer>): Promise<Answer> {
  try {
    return await request
  } catch (cause) {
    const { status, message } = cause as { readonly status?: number; readonly message: string }
    if (status === 404) throw new WebRtcError('room_not_found', message, { cause })
    if (status !== undefined && status < 500)
      throw new WebRtcError('room_refused', `LiveKit answered ${status}: ${message}`, { cause })
    throw new WebRtcError('livekit_unreachable', `LiveKit did not answer: ${message}`, { cause })
  }
}
