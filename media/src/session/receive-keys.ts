import type { Ms } from '@parley/kernel'
import { SrtpReceiver } from '../srtp/srtp-receiver.ts'
import { SRTP_UNAUTHENTICATED } from '../srtp/srtp-result.ts'
import type { RtpTransform, SrtpTransforms } from '../srtp/srtp-transform.ts'
import { portableTransforms } from '../srtp/transform-for-key.ts'
import type { SrtpKey } from './media-session.ts'

/** After the first verified packet under a new key, packets in flight under the old key are accepted for this long. */
const OVERLAP_MS: Ms = 1000
/** The peer changes keys when our answer reaches it. If it never does, its old key is accepted for this long. */
const OVERLAP_LIMIT_MS: Ms = 10_000

/**
 * The receiving side's keys over a call: a key that did not change keeps its context (rollover counter, replay window);
 * a changed one overlaps with its predecessor, so that packets in flight at a re-key are accepted.
 */
export class ReceiveKeys {
  readonly #transforms: SrtpTransforms
  #key: SrtpKey | null = null
  #current: SrtpReceiver | null = null
  #previous: SrtpReceiver | null = null
  #previousUntil: Ms = 0
  #currentProven = false

  constructor(transforms: SrtpTransforms = portableTransforms) {
    this.#transforms = transforms
  }

  /** Applies a key; returns true when it differs from the one before. */
  apply(nowMs: Ms, key: SrtpKey | null): boolean {
    if (key === null || this.#key === null || !sameKey(this.#key, key)) this.#current?.unshare()
    if (key === null) {
      this.#key = null
      this.#current = null
      this.#previous = null
      return false
    }
    if (this.#key !== null && sameKey(this.#key, key)) return false
    // An unproven key in between must not replace the one that the peer still uses.
    if (this.#currentProven || this.#previous === null) this.#previous = this.#current
    this.#previousUntil = nowMs + OVERLAP_LIMIT_MS
    this.#currentProven = false
    this.#key = key
    this.#current = new SrtpReceiver(key, this.#previous, this.#transforms)
    return true
  }

  /** Whether an authentic packet arrived under the newest key. */
  get proven(): boolean {
    return this.#currentProven
  }

  get secure(): boolean {
    return this.#current !== null
  }

  /**
   * Continues the replay window of RTP of a source in `memory` (`SrtpReceiver.share`); returns the transform of its packets,
   * null while more than the newest key may open them.
   */
  share(ssrc: number, memory: Float64Array): RtpTransform | null {
    const only = this.#currentProven && this.#previous === null
    return only ? (this.#current?.share(ssrc, memory) ?? null) : null
  }

  /** Decrypts in place; returns the new length, or a negative reason. A packet that fails changes nothing. */
  unprotect(nowMs: Ms, packet: Uint8Array, length: number): number {
    return this.#settle(nowMs, this.#current!.unprotect(packet, length), packet, length, false)
  }

  unprotectRtcp(nowMs: Ms, packet: Uint8Array, length: number): number {
    return this.#settle(nowMs, this.#current!.unprotectRtcp(packet, length), packet, length, true)
  }

  #settle(nowMs: Ms, result: number, packet: Uint8Array, length: number, rtcp: boolean): number {
    const previous = this.#previous
    if (result > 0 && !this.#currentProven) {
      this.#currentProven = true
      this.#previousUntil = Math.min(this.#previousUntil, nowMs + OVERLAP_MS)
    }
    if (previous === null) return result
    if (nowMs > this.#previousUntil) {
      this.#previous = null
      return result
    }
    if (result !== SRTP_UNAUTHENTICATED) return result
    return rtcp ? previous.unprotectRtcp(packet, length) : previous.unprotect(packet, length)
  }
}

export function sameKey(a: SrtpKey, b: SrtpKey): boolean {
  if (a.suite !== b.suite || a.keyAndSalt.length !== b.keyAndSalt.length) return false
  let difference = 0
  for (let i = 0; i < a.keyAndSalt.length; i++) difference |= a.keyAndSalt[i]! ^ b.keyAndSalt[i]!
  return difference === 0
}
