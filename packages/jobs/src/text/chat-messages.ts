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
  /** Aborts when the chat is over: no more messages are read. */
  readonly over: AbortSignal
  /** Aborts when another process owns the run: no more answers are written. */
  readonly lost: AbortSignal
}

/** The messages of one chat and their answers, in the database. Retries while the database is away. */
export class ChatMessages {
  readonly #options: ChatMessagesOptions

  constructor(options: ChatMessagesOptions) {
    this.#options = options
  }

  /** The waiting message. Null: there is none, or the chat is over. */
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

  /** Begins the turn of a message. False: it was refused meanwhile, or the chat is over. */
  async take({ message_id }: RunMessage): Promise<boolean> {
    const { run, database, time, over } = this.#options
    const { scope, owned } = run
    const moved = await this.#move(over, tx => takeMessage(tx, scope, owned, message_id))
    if (moved !== 'gone') return moved === 'done'
    // Only this process takes messages of this run: an earlier commit succeeded and its answer was lost.
    const read = () => readMessage(database.within(scope), scope, message_id)
    return (await retryUntilAnswered(time, () => over.aborted, read))?.state === 'taken'
  }

  /** Stores the answer, also when the chat is over, as long as this process owns the run. */
  async answer({ message_id }: RunMessage, answer: MessageAnswer): Promise<void> {
    const { run, bus, lost } = this.#options
    // A client that reads the transcript after the answer finds the turn in it.
    await run.written()
    const moved = await this.#move(lost, tx => answerMessage(tx, run.scope, run.owned, message_id, answer))
    // `gone`: an earlier commit succeeded and its answer was lost, or the message was refused.
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
