import type { Ms } from '@parley/kernel'

/** How much earlier than the end of the contract a holding line is requested, so that it is audible in time. */
const LEAD_MS: Ms = 500
/** Share of the contract after which an agent that does nothing is asked to speak. */
const NUDGE_SHARE = 0.5
/** A holding line that is not audible after this time is requested again. */
const AGAIN_MS: Ms = 1000

/** What the agent does at a moment. */
interface AgentState {
  /** Its sound is on the line, or is paused because the caller speaks. */
  readonly isAudible: boolean
  /** It generates an answer, runs an action, or has words that are not audible yet. */
  readonly isWorking: boolean
  /** The caller speaks: nothing is said over them. */
  readonly callerTalks: boolean
}

interface SilenceListener {
  /** Something must be said now, because the answer is not ready. */
  hold(): void
  /** The agent owes an answer and does nothing. */
  nudge(): void
  /** The caller has heard silence for the whole contract. Called once in each silence. */
  breach(silenceMs: Ms): void
}

/**
 * Bounds the silence that the caller hears while the agent owes an answer: from the moment in which a turn is decided complete,
 * and from the end of each sound while the agent is still working.
 */
export class SilenceContract {
  readonly #contractMs: Ms
  readonly #listener: SilenceListener
  /** The agent owes a first sound. */
  #isOwed = false
  #silentSince: Ms | null = null
  #heldAt: Ms | null = null
  #callerTalked = false
  #isNudged = false
  #isBreached = false
  #deadline: Ms | undefined

  constructor(contractMs: Ms, listener: SilenceListener) {
    this.#contractMs = contractMs
    this.#listener = listener
  }

  /** The agent must answer from now on: a turn, digits, or the beginning of the conversation. */
  owe(now: Ms): void {
    this.#isOwed = true
    this.#restart(now)
  }

  settle(now: Ms, { isAudible, isWorking, callerTalks }: AgentState): void {
    this.#deadline = undefined
    if (isAudible) {
      this.#isOwed = false
      this.#silentSince = null
      return
    }
    if (!this.#isOwed && !isWorking) {
      this.#silentSince = null
      return
    }
    // The silence begins when the caller has stopped to speak.
    if (this.#silentSince === null || callerTalks || this.#callerTalked) this.#restart(now)
    this.#callerTalked = callerTalks
    if (callerTalks) return
    this.#settleSilence(now, this.#silentSince ?? now, isWorking)
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#deadline
  }

  #settleSilence(now: Ms, since: Ms, isWorking: boolean): void {
    if (!isWorking) return this.#settleIdle(now, since)
    const breachAt = since + this.#contractMs
    if (now < breachAt) this.#wake(breachAt)
    else if (!this.#isBreached) {
      this.#isBreached = true
      this.#listener.breach(now - since)
    }
    const holdAt = this.#heldAt === null ? Math.max(since, breachAt - LEAD_MS) : this.#heldAt + AGAIN_MS
    if (now < holdAt) return this.#wake(holdAt)
    this.#heldAt = now
    this.#wake(now + AGAIN_MS)
    this.#listener.hold()
  }

  /** Nothing is under way: after the nudge the agent works, or has nothing to say. */
  #settleIdle(now: Ms, since: Ms): void {
    const nudgeAt = since + this.#contractMs * NUDGE_SHARE
    if (now < nudgeAt) return this.#wake(nudgeAt)
    this.#isOwed = false
    if (this.#isNudged) return
    this.#isNudged = true
    this.#listener.nudge()
  }

  #restart(now: Ms): void {
    this.#silentSince = now
    this.#heldAt = null
    this.#isNudged = false
    this.#isBreached = false
  }

  #wake(at: Ms): void {
    this.#deadline = Math.min(this.#deadline ?? at, at)
  }
}
