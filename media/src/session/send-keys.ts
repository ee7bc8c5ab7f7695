import type { Ms } from '@parley/kernel'
import { SrtpSender } from '../srtp/srtp-sender.ts'
import type { SrtpKey, SrtpParameters } from './media-session.ts'
import { sameKey } from './receive-keys.ts'

/** The answer that carries our new key has arrived by then, or the peer has other troubles. */
const WAIT_LIMIT_MS: Ms = 500

/**
 * The sending side's keys over a call. A key that did not change keeps its context. At a re-key in both directions we
 * go on under the old key until the peer was heard under its new one, for then it has ours as well: whoever answers a
 * re-key would otherwise send what the offerer cannot read yet. `peerHasSendKey` says that there is nothing to wait for.
 */
export class SendKeys {
  #key: SrtpKey | null = null
  #sender: SrtpSender | null = null
  #nextKey: SrtpKey | null = null
  #next: SrtpSender | null = null
  #nextAtMs: Ms = 0

  /** `receiveKeyChanged`: the peer will prove by its packets that it has switched. */
  apply(nowMs: Ms, parameters: SrtpParameters | null, receiveKeyChanged: boolean): void {
    const key = parameters?.send ?? null
    if (key !== null && this.#nextKey !== null && sameKey(key, this.#nextKey)) return
    this.#nextKey = null
    this.#next = null
    if (key !== null && this.#key !== null && sameKey(key, this.#key)) return
    const sender = key === null ? null : new SrtpSender(key)
    const wait = receiveKeyChanged && parameters?.peerHasSendKey !== true
    if (this.#sender === null || sender === null || !wait) {
      this.#key = key
      this.#sender = sender
      return
    }
    this.#nextKey = key
    this.#next = sender
    this.#nextAtMs = nowMs + WAIT_LIMIT_MS
  }

  /** The context to send with now; null: in clear. `peerSwitched`: the peer was heard under its newest key. */
  sender(nowMs: Ms, peerSwitched: boolean): SrtpSender | null {
    if (this.#next !== null && (peerSwitched || nowMs >= this.#nextAtMs)) {
      this.#key = this.#nextKey
      this.#sender = this.#next
      this.#nextKey = null
      this.#next = null
    }
    return this.#sender
  }
}
