import type { ConversationEvent, Inputs } from '@parley/conversation'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { LocalEnding } from '../outcome.ts'

/** Wait between the last word and BYE, so that BYE does not overtake audio in the far end's jitter buffer. */
const LAST_WORD_MS: Ms = 200

interface CallEndingOptions {
  readonly time: Time
  readonly inputs: Inputs
  /** Ends the call; it may call the owner's `stop` before it returns. */
  readonly end: (why: LocalEnding) => void
}

/** The end of a call that its own conversation decides. */
export class CallEnding {
  readonly #options: CallEndingOptions
  #isEnding = false
  #hangUp: Timer | null = null

  constructor(options: CallEndingOptions) {
    this.#options = options
  }

  /** The call is being ended from here, not by the far end or an operator. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  now(why: LocalEnding): void {
    const { inputs, end } = this.#options
    inputs.decided(['end', why])
    this.#isEnding = true
    try {
      end(why)
    } finally {
      this.#isEnding = false
    }
  }

  /** The agent has just said something, which is to be heard. */
  afterLastWord(why: LocalEnding): void {
    const { time } = this.#options
    this.#hangUp = time.at(time.now() + LAST_WORD_MS, () => this.now(why))
  }

  /** The conversation has ended. */
  conversationEnded({ outcome, ended_by, code }: ConversationEvent & { type: 'ended' }): void {
    const why = outcome === 'error' ? errorEnding(code) : outcome
    const mayHaveSaidFarewell = outcome === 'silence' || outcome === 'error'
    if (ended_by === 'system' && !mayHaveSaidFarewell) this.now(why)
    else this.afterLastWord(why)
  }

  stop(): void {
    this.#hangUp?.cancel()
  }
}

function errorEnding(code: string | null): 'provider_failed' | 'internal' {
  return code === 'provider_failed' ? 'provider_failed' : 'internal'
}
