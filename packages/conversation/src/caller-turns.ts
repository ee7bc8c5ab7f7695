import type { FlowInput } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import { wordsOf } from './caller-input.ts'
import { type ConversationContext, feed } from './conversation-context.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { FlowExecutor } from './flow-executor.ts'
import type { PlaybackReports } from './playback-reports.ts'
import type { UserTurn } from './protocol.ts'
import type { TimelineFact } from './timeline.ts'
import type { WaitTimer } from './wait-timer.ts'

/**
 * What the caller said and entered, on its way into the record and the flow. A turn that the flow reacts to cancels what the agent
 * says and what the model writes. The owner calls the methods one at a time, in its queue.
 */
export class CallerTurns {
  readonly #context: ConversationContext
  readonly #executor: FlowExecutor
  readonly #record: ConversationRecord
  readonly #playback: PlaybackReports
  readonly #waits: WaitTimer
  /** A note for the model before the caller's next turn; empty: none. */
  #note = ''

  constructor(
    context: ConversationContext,
    executor: FlowExecutor,
    record: ConversationRecord,
    playback: PlaybackReports,
    waits: WaitTimer,
  ) {
    this.#context = context
    this.#executor = executor
    this.#record = record
    this.#playback = playback
    this.#waits = waits
  }

  /** The conversation begins. Records what the caller said before, and returns its words; null: nothing. */
  opening(turn: UserTurn | null): string {
    this.#waits.turn()
    const words = turn === null ? '' : wordsOf(turn)
    if (turn !== null && words !== '') this.#record.userTurn(turn, words, this.#executor.nodeId)
    this.#follow(words, turn)
    return words
  }

  /** The caller finished a turn. */
  turn(turn: UserTurn): void {
    const { unfinishedTurn } = this.#context
    const words = wordsOf(turn)
    this.#executor.turnEnded()
    this.#follow(words, turn)
    const text = unfinishedTurn.joined(words)
    // In text a turn is over when it is sent.
    if (turn.isUnfinished !== undefined) this.#beginOpen(text, !turn.isUnfinished)
    else unfinishedTurn.close()
    const remembered = this.#note + text
    this.#note = ''
    this.#take({ type: 'user_turn', text }, () => this.#record.userTurn(turn, words, this.#executor.nodeId, remembered))
  }

  /** The caller goes on after a turn that looked unfinished, or corrects a complete one. */
  continued(): void {
    const continued = this.#context.unfinishedTurn.continued()
    if (continued?.type === 'too-late') this.#note = `[went on after ${continued.sent.join(', ')}] `
  }

  /** The caller said this beside digits that answer the question. */
  aside(turn: UserTurn): void {
    const words = wordsOf(turn)
    if (words !== '' && this.#context.isTalking()) this.#record.userTurn(turn, words, this.#executor.nodeId)
  }

  /** The caller has entered digits. `question`: the number of the question that they answer; null: the open one. */
  digits(digits: string, atMs: Ms | null, question: number | null): void {
    const { options, memory, unfinishedTurn } = this.#context
    unfinishedTurn.close()
    this.#take({ type: 'digits', digits, ...(question !== null && { question }) }, () => {
      this.recordDigits(digits, atMs)
      if (options.plan.settings.allowUserDtmf) memory.user(`[pressed ${digits}]`)
    })
  }

  recordDigits(digits: string, atMs: Ms | null): void {
    const fact: TimelineFact = { kind: 'digits', direction: 'in', digits }
    this.#context.emit({ type: 'fact', fact, ...(atMs !== null && { offset_ms: atMs }) })
  }

  /**
   * A turn of the caller. Where the flow reacts to it, the agent's speeches and model requests are cancelled, and the part
   * that was heard is recorded before the turn.
   */
  #take(input: FlowInput, record: () => void): void {
    const { isTalking, isOver, handle, modelRequests, speeches } = this.#context
    if (isOver()) return
    this.#waits.turn()
    const outputs = isTalking() ? handle(input) : []
    if (outputs.length === 0) return record()
    modelRequests.abortAll()
    this.#executor.actions.turn()
    speeches.withdrawAll()
    this.#playback.whenComplete(() => {
      record()
      this.#executor.perform(outputs, input)
      // A preemptive answer that was not used by now belongs to another turn.
      this.#executor.preemptive.drop()
    })
  }

  /** Goes on in the language of the caller's words, where the agent speaks it. */
  #follow(words: string, turn: UserTurn | null): void {
    const { isTalking, language, onFact, emit } = this.#context
    if (!isTalking()) return
    const from = language.current
    const change = language.turn(words, turn?.language ?? null)
    if (change === null) return
    onFact({ kind: 'language', language: change.language, from, cause: change.cause })
    feed(this.#context, { type: 'language', language: change.language })
    emit({ type: 'language', ...change })
  }

  /** From here on everything can be taken back, until the turn is closed. Not while an action of an earlier turn runs. */
  #beginOpen(text: string, isComplete: boolean): void {
    const { options, flow, memory, unfinishedTurn, modelRequests, speeches, isTalking } = this.#context
    if (!isTalking() || this.#executor.actions.isUnderWay) return unfinishedTurn.close()
    const state = flow.state()
    const forget = memory.mark()
    unfinishedTurn.begin(
      text,
      () => {
        if (!isTalking()) return
        modelRequests.abortAll()
        this.#executor.actions.turn()
        speeches.withdrawAll()
        forget()
        this.#executor.perform(flow.restore(options.wallClock(), state), { type: 'user_turn', text })
      },
      isComplete,
    )
  }
}
