import type { LegEvent } from '@parley/leg'
import type { CallEvent } from '../call.ts'

/** What the agent is doing, as a page shows it. */
type AgentState = 'listening' | 'thinking' | 'speaking'

/** Messages to the page of a web call while it lasts; its leg says when it ended. */
type PageUpdate =
  | { readonly type: 'agent'; readonly state: AgentState }
  | { readonly type: 'user'; readonly speaking: boolean }
  | {
      readonly type: 'utterance'
      readonly index: number
      readonly role: 'agent' | 'user'
      readonly text: string
      readonly interrupted: boolean
    }

/** Turns the events of a call into what its page shows: who speaks, and what was said. */
export class PageFeed {
  readonly #send: (update: PageUpdate) => void
  #state: AgentState | null = null
  /** Index of the next utterance. The page has one conversation, also when agents that continue it count their own. */
  #next = 0
  #first = 0

  constructor(send: (update: PageUpdate) => void) {
    this.#send = send
  }

  onEvent(event: CallEvent): void {
    switch (event.type) {
      case 'leg':
        return this.#onLeg(event.event)
      case 'timeline':
        if (event.item.kind !== 'utterance') return
        this.#next = Math.max(this.#next, this.#first + event.item.index + 1)
        return this.#send({
          type: 'utterance',
          index: this.#first + event.item.index,
          role: event.item.role,
          text: event.item.text,
          interrupted: event.item.interrupted,
        })
      case 'handed-over':
        this.#first = this.#next
        return
      case 'ending':
      case 'ended':
        return
    }
  }

  #onLeg(event: LegEvent): void {
    switch (event.type) {
      case 'answered':
        return this.#enter('listening')
      case 'voice-start':
        return this.#send({ type: 'user', speaking: true })
      case 'voice-end':
        this.#send({ type: 'user', speaking: false })
        if (this.#state === 'listening') this.#enter('thinking')
        return
      case 'play-progress':
        return this.#enter(event.idle ? 'listening' : 'speaking')
      default:
        return
    }
  }

  #enter(state: AgentState): void {
    if (state === this.#state) return
    this.#state = state
    this.#send({ type: 'agent', state })
  }
}
