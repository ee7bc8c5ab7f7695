import type { Ms } from '@parley/kernel'
import { SrtpSender } from '../srtp/srtp-sender.ts'
import type { RtpTransform, SrtpTransforms } from '../srtp/srtp-transform.ts'
import { portableTransforms } from '../srtp/transform-for-key.ts'
import type { SrtpKey, SrtpParameters } from './media-session.ts'
import { sameKey } from './receive-keys.ts'

/** Longest wait for the peer's first packet under its new key; the answer with our new key has arrived by then. */
const WAIT_LIMIT_MS: Ms = 500

/**
 * The sending side's keys over a call. A key that did not change keeps its context. At a re-key in both directions the
 * old key is used until the peer was heard under its new one, which shows that it has ours as well: otherwise the side
 * that answers a re-key would send packets that the offerer cannot decrypt yet. With `peerHasSendKey` the new key is
 * used at once.
 */
export class SendKeys {
  readonly #transforms: SrtpTransforms
  #key: SrtpKey | null = null
  #sender: SrtpSender | null = null
  #nextKey: SrtpKey | null = null
  #next: SrtpSender | null = null
  #nextAtMs: Ms = 0

  constructor(transforms: SrtpTransforms = portableTransforms) {
    this.#transforms = transforms
  }

  /** Whether packets are sent encrypted. */
  get secure(): boolean {
    return this.#sender !== null
  }

  /** `receiveKeyChanged`: the peer's packets will show that it has switched. */
  apply(nowMs: Ms, parameters: SrtpParameters | null, receiveKeyChanged: boolean): void {
    const key = parameters?.send ?? null
    if (key !== null && this.#nextKey !== null && sameKey(key, this.#nextKey)) return
    this.#nextKey = null
    this.#next = null
    if (key !== null && this.#key !== null && sameKey(key, this.#key)) return
    const sender = key === null ? null : new SrtpSender(key, this.#transforms)
    const wait = receiveKeyChanged && parameters?.peerHasSendKey !== true
    if (this.#sender === null || sender === null || !wait) {
      this.#use(key, sender)
      return
    }
    this.#nextKey = key
    this.#next = sender
    this.#nextAtMs = nowMs + WAIT_LIMIT_MS
  }

  /** The context to send with; null: in clear. `peerSwitched`: an authentic packet arrived under the newest key. */
  sender(nowMs: Ms, peerSwitched: boolean): SrtpSender | null {
    if (this.#next !== null && (peerSwitched || nowMs >= this.#nextAtMs)) {
      this.#use(this.#nextKey, this.#next)
      this.#nextKey = null
      this.#next = null
    }
    return this.#sender
  }

  /**
   * Continues the replay window of `ssrc` in `memory`; returns the transform of its packets, null before the first one and
   * while a new key waits.
   */
  share(ssrc: number, memory: Float64Array): RtpTransform | null {
    return this.#next === null ? (this.#sender?.share(ssrc, memory) ?? null) : null
  }

  /** The counters are carried on at the change itself, since the old key is used until then. */
  #use(key: SrtpKey | null, sender: SrtpSender | null): void {
    if (this.#sender !== null) sender?.continueFrom(this.#sender)
    if (this.#sender !== sender) this.#sender?.unshare()
    this.#key = key
    this.#sender = sender
  }
}
