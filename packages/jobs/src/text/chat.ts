import type { TextSession, Utterance } from '@parley/conversation'
import type { Ms, Time } from '@parley/kernel'
import type { RunMessage } from '@parley/store'
import type { ChatMessages } from './chat-messages.ts'
import type { Signal } from './signal.ts'

/** Interval of reading the database for messages, because a notification may be lost. */
const POLL_MS: Ms = 5000

interface ChatOptions {
  readonly session: TextSession
  readonly messages: Pick<ChatMessages, 'next' | 'take' | 'answer'>
  /** Notified when there may be a message, and when the chat is over. */
  readonly signal: Signal
  readonly time: Time
  /** The chat ends after so long without a message. */
  readonly silenceMs: Ms
  /** Aborts when the conversation is over, for whatever reason. */
  readonly over: AbortSignal
  /** Called when a turn was the last one, before its message is answered. */
  readonly onLastTurn: () => void
}

/** A chat from its opening to its end. Each message is one turn, and is answered with the utterances of that turn. */
export class Chat {
  readonly #options: ChatOptions
  /** When the agent opens the chat if the user, who is to open it, stays silent. */
  #openingAt: Ms = Number.POSITIVE_INFINITY

  constructor(options: ChatOptions) {
    this.#options = options
  }

  /** The user is to open the chat; the agent opens it after `afterMs` of silence (null: never). */
  awaitOpening(afterMs: Ms | null): void {
    this.#openingAt = afterMs === null ? Number.POSITIVE_INFINITY : this.#options.time.now() + afterMs
  }

  /** Resolves when the conversation is over. */
  async talk(): Promise<void> {
    const { session, over } = this.#options
    await session.start()
    while (!over.aborted) {
      const input = await this.#nextInput()
      if (input === 'opening') await session.silence('opening')
      else if (input === 'silence') await session.silence('limit')
      else if (input !== null) await this.#turn(input)
    }
  }

  /** The next message, or the silence that ran out; the database is read once more before silence counts. */
  async #nextInput(): Promise<RunMessage | 'opening' | 'silence' | null> {
    const { messages, signal: bell, time, silenceMs, over } = this.#options
    const silenceAt = time.now() + silenceMs
    while (!over.aborted) {
      const now = time.now()
      const message = await messages.next()
      if (message !== null) return message
      if (now >= silenceAt) return 'silence'
      if (now >= this.#openingAt) {
        this.awaitOpening(null)
        return 'opening'
      }
      await bell.wait(Math.min(silenceAt, this.#openingAt, now + POLL_MS))
    }
    return null
  }

  async #turn(message: RunMessage): Promise<void> {
    const { session, messages, over, onLastTurn } = this.#options
    if (!(await messages.take(message))) return
    this.awaitOpening(null)
    const utterances = await session.say(message.text)
    const isLast = over.aborted
    if (isLast) onLastTurn()
    await messages.answer(message, { state: isLast ? 'ending' : 'running', utterances: utterances.map(documentOf) })
  }
}

function documentOf(utterance: Utterance) {
  return { ...utterance }
}
