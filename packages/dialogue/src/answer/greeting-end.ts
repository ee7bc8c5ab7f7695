import type { Ms } from '@parley/kernel'
import { RESUMED_TALK_MS } from './answer-thresholds.ts'
import type { FarEndTalk } from './far-end-talk.ts'
import type { AnswerOutput } from './protocol.ts'

/** Finds the moment at which a message may begin: the end of a mailbox's beep, or silence where no beep comes. */
export class GreetingEnd {
  readonly #talk: FarEndTalk
  readonly #emit: (output: AnswerOutput) => void
  #beepEndedAt: Ms | null = null
  #over: 'beep' | 'silence' | null = null

  constructor(talk: FarEndTalk, emit: (output: AnswerOutput) => void) {
    this.#talk = talk
    this.#emit = emit
  }

  /** A beep ended; it counts also if what answered is not known yet. */
  beep(at: Ms): void {
    this.#beepEndedAt = at
  }

  clear(): void {
    this.#beepEndedAt = null
    this.reopen()
  }

  /** Something else answered than seemed: the end of its greeting is reported anew. */
  reopen(): void {
    this.#over = null
  }

  /**
   * Called at every input and deadline while the verdict is a mailbox or a screener. `silence`: that ends the greeting without a beep.
   * Returns when it must be called again; null: at the next input.
   */
  settle(now: Ms, answeredAt: Ms, silence: Ms): Ms | null {
    const talk = this.#talk
    if (this.#over === 'beep') return null
    // Talk after a beep means that it was not the mailbox's.
    if (this.#beepEndedAt !== null && !talk.isTone && talk.stoppedAt <= this.#beepEndedAt && !talk.isTalking)
      return this.#finish('beep', this.#beepEndedAt)
    if (this.#over === 'silence') {
      if (talk.isTalking && talk.greetingMs(now) >= RESUMED_TALK_MS) {
        this.#over = null
        this.#emit({ type: 'greeting-resumed' })
        return null
      }
      return talk.isTalking ? now + RESUMED_TALK_MS : null
    }
    if (talk.isTalking || talk.isTone) return null
    const left = silence - talk.silentMs(now, answeredAt)
    return left <= 0 ? this.#finish('silence', now) : now + left
  }

  #finish(cause: 'beep' | 'silence', at: Ms): null {
    if (this.#over === 'silence') this.#emit({ type: 'greeting-resumed' })
    this.#over = cause
    this.#emit({ type: 'greeting-over', cause, at })
    return null
  }
}
