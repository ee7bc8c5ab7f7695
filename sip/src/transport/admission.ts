import { peerKey } from './ip-address.ts'
import type { StreamLimits } from './stream-limits.ts'

/** The place of one accepted connection. Both methods are idempotent. */
export interface AdmissionSlot {
  /** The TLS handshake has finished; the connection stays open. */
  handshakeDone(): void
  /** The connection has closed. */
  release(): void
}

type AdmissionLimits = Pick<StreamLimits, 'maxAccepted' | 'maxPerPeer' | 'maxHandshakes' | 'maxHandshakesPerPeer'>

/** Limits accepted connections: in total, per peer, and in TLS handshake. */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #byPeer = new Map<string, { connections: number; handshakes: number }>()
  #accepted = 0
  #handshakes = 0
  #refused = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  get accepted(): number {
    return this.#accepted
  }

  get handshakes(): number {
    return this.#handshakes
  }

  /** Connections refused since the start. */
  get refused(): number {
    return this.#refused
  }

  /** A place for one more connection from `address`, or undefined if a limit is reached: then the caller closes it without a response. */
  admit(address: string, handshake: boolean): AdmissionSlot | undefined {
    const peer = peerKey(address)
    const counts = this.#byPeer.get(peer) ?? { connections: 0, handshakes: 0 }
    const full =
      this.#accepted >= this.#limits.maxAccepted ||
      counts.connections >= this.#limits.maxPerPeer ||
      (handshake && this.#handshakes >= this.#limits.maxHandshakes) ||
      // One peer's unfinished handshakes must not block all other peers.
      (handshake && counts.handshakes >= this.#limits.maxHandshakesPerPeer)
    if (full) {
      this.#refused++
      return undefined
    }
    this.#accepted++
    counts.connections++
    this.#byPeer.set(peer, counts)
    if (handshake) {
      this.#handshakes++
      counts.handshakes++
    }
    return this.#slot(peer, counts, handshake)
  }

  #slot(peer: string, counts: { connections: number; handshakes: number }, handshake: boolean): AdmissionSlot {
    let shaking = handshake
    let held = true
    const handshakeDone = () => {
      if (!shaking) return
      shaking = false
      this.#handshakes--
      counts.handshakes--
    }
    const release = () => {
      handshakeDone()
      if (!held) return
      held = false
      this.#accepted--
      counts.connections--
      if (counts.connections === 0) this.#byPeer.delete(peer)
    }
    return { handshakeDone, release }
  }
}
