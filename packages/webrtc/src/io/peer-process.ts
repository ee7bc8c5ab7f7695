import type { IceServer, OfferedAudio, PeerCommand, PeerOptions } from '../protocol.ts'
import { type BrowserPeer, PeerChild } from './peer-child.ts'

/** Longest wait for an answer: gathering takes milliseconds, with a TURN server seconds. */
const ANSWER_MS = 8000

interface BrowserOffer {
  readonly sdp: string
  readonly audio: OfferedAudio
  /** Address and port of the call's media session. */
  readonly media: { readonly address: string; readonly port: number }
}

/** How peer connections are opened. */
export interface PeerProcessOptions extends Omit<PeerOptions, 'iceServers'> {
  /** The servers of one connection: their credentials expire. */
  readonly iceServers: () => readonly IceServer[]
}

/** Peer connections with browsers, in one child process. */
export class PeerProcess {
  readonly #options: PeerProcessOptions
  readonly #child: PeerChild<Extract<PeerCommand, { readonly type: 'connect' }>>

  constructor(options: PeerProcessOptions & { readonly onProblem: (what: string, error: unknown) => void }) {
    const { onProblem, ...rest } = options
    this.#options = rest
    this.#child = new PeerChild({
      worker: new URL('./peer-worker.ts', import.meta.url),
      has: 'peer connections',
      onProblem,
    })
  }

  /** Number of open connections. */
  get size(): number {
    return this.#child.size
  }

  /** Process id of the child; null while there is none. */
  get pid(): number | null {
    return this.#child.pid
  }

  /** Answers an offer. Throws "offer_refused" and "peer_process_lost". */
  connect({ sdp, audio, media }: BrowserOffer): Promise<BrowserPeer> {
    const options = { ...this.#options, iceServers: this.#options.iceServers() }
    return this.#child.open({ offer: sdp, audio, media, options }, ANSWER_MS)
  }

  /** Ends all connections and the child process. */
  close(): Promise<void> {
    return this.#child.close()
  }
}
