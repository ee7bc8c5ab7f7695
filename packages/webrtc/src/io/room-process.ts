import { WebRtcError } from '../errors.ts'
import type { RoomCommand } from '../livekit/room-protocol.ts'
import { type BrowserPeer, PeerChild } from './peer-child.ts'

/** Joining takes 0.2 s; where ICE cannot complete, the library neither succeeds nor fails. */
const JOIN_MS = 10_000
const LIBRARY = '@livekit/rtc-node'

interface JoinedRoom {
  readonly url: string
  readonly token: string
  /** Address and port of the call's media session. */
  readonly media: { readonly address: string; readonly port: number }
}

/** Throws "livekit_not_installed" where the library for rooms is missing. */
export function requireRoomLibrary(): void {
  try {
    import.meta.resolve(LIBRARY)
  } catch (cause) {
    const fix = `npm install --workspace @parley/webrtc ${LIBRARY}@1.1.0`
    throw new WebRtcError(
      'livekit_not_installed',
      `LIVEKIT_URL is set, and ${LIBRARY} is not installed: run "${fix}", or unset LIVEKIT_URL`,
      { cause },
    )
  }
}

/** The agents' participants in rooms of LiveKit, in one child process. */
export class RoomProcess {
  readonly #child: PeerChild<Extract<RoomCommand, { readonly type: 'connect' }>>

  constructor(options: { readonly onProblem: (what: string, error: unknown) => void }) {
    this.#child = new PeerChild({
      ...options,
      worker: new URL('./room-worker.ts', import.meta.url),
      has: 'rooms of LiveKit',
    })
  }

  /**
   * Joins a room as the agent. The peer is connected while the visitor is in the room. Throws "offer_refused" if the room cannot
   * be joined, and "peer_process_lost".
   */
  join(room: JoinedRoom): Promise<BrowserPeer> {
    return this.#child.open(room, JOIN_MS)
  }

  /** Leaves all rooms and ends the child process. */
  close(): Promise<void> {
    return this.#child.close()
  }
}
