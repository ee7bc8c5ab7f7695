import { peerKey } from './ip-address.ts'
import type { StreamLimits } from './stream-limits.ts'

/** One accepted connection's place. Both methods are idempotent. */
export interface AdmissionSlot {
  /** The handshake is over, the connection stays. */
  handshakeDone(): void
  /** The connection is gone. */
  release(): void
}

/** Who may connect: counts of accepted connections in total, by peer, and in TLS handshake. */
export class Admission {
  readonly #limits: Pick<StreamLimits, 'maxAccepted' | 'maxPerPeer' | 'maxHandshakes'>
  readonly #byPeer = new Map<string, number>()
  #accepted = 0
  #handshakes = 0
  #refused = 0

  constructor(limits: Pick<StreamLimits, 'maxAccepted' | 'maxPerPeer' | 'maxHandshakes'>) {
    this.#limits = limits
  }

  get accepted(): number {
    return this.#accepted
  }

  get handshakes(): number {
    return this.#handshakes
  }

  /** Connections turned away since the start. */
  get refused(): number {
    return this.#refused
  }

  /** A place for one more connection from `address`, or undefined: then it has to be dropped without a word. */
  admit(address: string, handshake: boolean): AdmissionSlot | undefined {
    const peer = peerKey(address)
    const fromPeer = this.#byPeer.get(peer) ?? 0
    const full =
      this.#accepted >= this.#limits.maxAccepted ||
      fromPeer >= this.#limits.maxPerPeer ||
      (handshake && this.#handshakes >= this.#limits.maxHandshakes)
    if (full) {
      this.#refused++
      return undefined
    }
    this.#accepted++
    this.#byPeer.set(peer, fromPeer + 1)
    if (handshake) this.#handshakes++
    return this.#slot(peer, handshake)
  }

  #slot(peer: string, handshake: boolean): AdmissionSlot {
    let shaking = handshake
    let held = true
    const handshakeDone = () => {
      if (shaking) this.#handshakes--
      shaking = false
    }
    const release = () => {
      handshakeDone()
      if (!held) return
      held = false
      this.#accepted--
      const left = this.#byPeer.get(peer)! - 1
      if (left === 0) this.#byPeer.delete(peer)
      else this.#byPeer.set(peer, left)
    }
    return { handshakeDone, release }
  }
}
