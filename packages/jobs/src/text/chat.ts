import type { TextSession, Utterance } from '@parley/conversation'
import type { Ms, Time } from '@parley/kernel'
import type { RunMessage } from '@parley/store'
import type { ChatMessages } from './chat-messages.ts'
import type { Signal } from './signal.ts'

/** News of messages may be lost: then they are found by looking. */
const LOOK_MS: Ms = 5000

interface ChatOptions {
  readonly session: TextSession
  readonly messages: Pick<ChatMessages, 'next' | 'take' | 'answer'>
  /** Rings when there may be a message, and when the chat is over. */
  readonly bell: Signal
  readonly time: Time
  /** Without a message the chat ends after this. */
  readonly silenceMs: Ms
  /** Aborts when the conversation is over, however it came to that. */
  readonly over: AbortSignal
  /** A turn was the last: told before it is answered. */
  readonly onLastTurn: () => void
}

/** A chat from its opening line to its end: each message is one turn, answered with what was said in it. */
export class Chat {
  readonly #options: ChatOptions
  /** When the agent opens after all, where the user is to. */
  #openingAt: Ms = Number.POSITIVE_INFINITY

  constructor(options: ChatOptions) {
    this.#options = options
  }

  /** The user is to open; after `afterMs` of silence the agent does. */
  awaitOpening(afterMs: Ms | null): void {
    this.#openingAt = afterMs === null ? Number.POSITIVE_INFINITY : this.#options.time.now() + afterMs
  }

  /** Resolves when the conversation is over. */
  async talk(): Promise<void> {
    const { session, over } = this.#options
    await session.start()
    while (!over.aborted) {
      const heard = await this.#listen()
      if (heard === 'opening') await session.silence('opening')
      else if (heard === 'silence') await session.silence('limit')
      else if (heard !== null) await this.#turn(heard)
    }
  }

  /** Looks for a message before it takes silence for silence. */
  async #listen(): Promise<RunMessage | 'opening' | 'silence' | null> {
    const { messages, bell, time, silenceMs, over } = this.#options
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
      await bell.wait(Math.min(silenceAt, this.#openingAt, now + LOOK_MS))
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
