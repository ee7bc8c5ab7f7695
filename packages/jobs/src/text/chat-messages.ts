import type { Time } from '@parley/kernel'
import { type OwnedRun, ownershipUnconfirmed, retryUntilAnswered } from '@parley/runs'
import {
  answerMessage,
  type Bus,
  type Database,
  type MessageAnswer,
  type MessageMove,
  nextMessage,
  type Queries,
  type RunMessage,
  readMessage,
  takeMessage,
} from '@parley/store'

interface ChatMessagesOptions {
  readonly run: OwnedRun
  readonly database: Database
  readonly bus: Bus
  readonly time: Time
  /** Aborts when the chat is over: nothing further is heard. */
  readonly over: AbortSignal
  /** Aborts when another process owns the run: no more answers are written. */
  readonly lost: AbortSignal
}

/** What people say in one chat, and what they are answered. Waits while the database is away. */
export class ChatMessages {
  readonly #options: ChatMessagesOptions

  constructor(options: ChatMessagesOptions) {
    this.#options = options
  }

  /** Null: nothing was said, or the chat is over. */
  async next(): Promise<RunMessage | null> {
    const { run, database, time, over } = this.#options
    const { scope, owned } = run
    return (
      (await retryUntilAnswered(
        time,
        () => over.aborted,
        () => nextMessage(database.within(scope), scope, owned),
      )) ?? null
    )
  }

  /** False: it is not to be had any more. */
  async take({ message_id }: RunMessage): Promise<boolean> {
    const { run, database, time, over } = this.#options
    const { scope, owned, runId } = run
    const moved = await this.#move(over, tx => takeMessage(tx, scope, owned, message_id))
    if (moved !== 'gone') return moved === 'done'
    // Nobody else takes messages of this run: it was taken by a commit of which nothing was heard.
    const read = () => readMessage(database.within(scope), scope, runId, message_id)
    return (await retryUntilAnswered(time, () => over.aborted, read))?.state === 'taken'
  }

  /** Also of a chat that is over, as long as it is ours. */
  async answer({ message_id }: RunMessage, answer: MessageAnswer): Promise<void> {
    const { run, bus, lost } = this.#options
    const moved = await this.#move(lost, tx => answerMessage(tx, run.scope, run.owned, message_id, answer))
    // Gone: answered by a commit of which nothing was heard, or refused.
    if (moved !== undefined) bus.publish('runs', run.runId)
  }

  #move(signal: AbortSignal, move: (tx: Queries) => Promise<MessageMove>): Promise<MessageMove | undefined> {
    const { run, database, time } = this.#options
    return retryUntilAnswered(
      time,
      () => signal.aborted,
      async () => {
        const moved = await database.transaction(run.scope, move)
        if (moved === 'lost') throw ownershipUnconfirmed()
        return moved
      },
    )
  }
}
