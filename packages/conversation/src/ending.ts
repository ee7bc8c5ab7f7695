import type { FlowOutcome } from '@parley/flow'
import type { Ms, Timer } from '@parley/kernel'
import { type ConversationContext, speak } from './conversation-context.ts'
import type { FlowExecutor } from './flow-executor.ts'
import { fixedTexts } from './model/agent-language.ts'
import type { PlaybackReports } from './playback-reports.ts'
import type { ConversationEvent } from './protocol.ts'

/** A farewell that is not heard within this time does not delay the end. */
const LONGEST_FAREWELL_MS: Ms = 15_000

export type Ended = Extract<ConversationEvent, { type: 'ended' }>

/** The time from the end of the flow to the end of the conversation: the last speeches are played, or a farewell is said. */
export class Ending {
  readonly #context: ConversationContext
  readonly #executor: FlowExecutor
  readonly #playback: PlaybackReports
  readonly #onEnded: (event: Ended) => void
  /** How the flow ended; null: the conversation is not ending. */
  #event: Ended | null = null
  #farewellLimit: Timer | null = null

  /** `onEnded` is called once, when everything was heard. */
  constructor(
    context: ConversationContext,
    executor: FlowExecutor,
    playback: PlaybackReports,
    onEnded: (event: Ended) => void,
  ) {
    this.#context = context
    this.#executor = executor
    this.#playback = playback
    this.#onEnded = onEnded
  }

  /** The flow has ended. */
  begin(event: Ended): void {
    const { modelRequests, speeches } = this.#context
    this.#event = event
    modelRequests.abortAll()
    if (event.ended_by === 'system' && !this.#saysFarewell(event.outcome)) return this.cutShort()
    speeches.completeAll()
    this.finishIfAllHeard()
  }

  /** Withdraws what is still to be said. */
  cutShort(): void {
    if (this.#event === null) return
    this.#context.speeches.withdrawAll()
    this.#playback.whenComplete(() => this.#finish())
  }

  finishIfAllHeard(): void {
    if (!this.#context.speeches.hasMore) this.#finish()
  }

  /** The far end has hung up: `onEnded` is not called. */
  cancel(): void {
    this.#event = null
    this.#farewellLimit?.cancel()
  }

  /** On the phone a call that ends for silence or an error ends with a farewell. */
  #saysFarewell(outcome: FlowOutcome): boolean {
    const { options, language, speeches, enqueue } = this.#context
    const { mode, time } = options
    if (mode.channel !== 'phone' || (outcome !== 'silence' && outcome !== 'error')) return false
    const { silenceFarewell, errorFarewell } = fixedTexts(language.current)
    speeches.withdrawAll()
    const nodeId = this.#executor.nodeId ?? ''
    speak(this.#context, null, nodeId, outcome === 'silence' ? silenceFarewell : errorFarewell)
    this.#farewellLimit = time.at(time.now() + LONGEST_FAREWELL_MS, () => enqueue(() => this.cutShort()))
    return true
  }

  #finish(): void {
    const event = this.#event
    if (event === null) return
    this.cancel()
    this.#onEnded(event)
  }
}
