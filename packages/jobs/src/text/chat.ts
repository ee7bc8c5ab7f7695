import type { TextSession, Utterance } from '@parley/conversation'
import type { Ms, Time } from '@parley/kernel'
import type { MessageAnswer, RunMessage } from '@parley/store'
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
  /** The chat ends after this long without a message. */
  readonly silenceMs: Ms
  /** Aborts when the conversation is over, for whatever reason. */
  readonly over: AbortSignal
  /** Utterances of the conversation before this agent continued it; the indices in answers go on from there. Default 0. */
  readonly spokenBefore?: number
  /** Called when a turn was the last one, before its message is answered; resolves with what the answer has beside the turn. */
  readonly onLastTurn: () => Promise<MessageAnswer>
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

  /** Resolves when the conversation is over. `opening`: the agent's first turn. */
  async talk(opening: Promise<unknown>): Promise<void> {
    const { session, over } = this.#options
    await opening
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
    const { session, messages, over, onLastTurn, spokenBefore = 0 } = this.#options
    if (!(await messages.take(message))) return
    this.awaitOpening(null)
    const utterances = documentsOf(await session.say(message.text), spokenBefore)
    const { state, utterances: more } = over.aborted ? await onLastTurn() : STILL_RUNNING
    await messages.answer(message, { state, utterances: [...utterances, ...more] })
  }
}

const STILL_RUNNING: MessageAnswer = { state: 'running', utterances: [] }

/** Utterances as an answer has them; `spokenBefore`: those of the conversation before. */
export function documentsOf(utterances: readonly Utterance[], spokenBefore: number): MessageAnswer['utterances'] {
  return utterances.map(utterance => ({ ...utterance, index: utterance.index + spokenBefore }))
}
