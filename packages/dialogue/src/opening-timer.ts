import type { Ms } from '@parley/kernel'
import type { CallerTurn, DialogueOptions } from './protocol.ts'

const DEFAULT_PATIENCE_MS: Ms = 5000
/** Longest delay of the agent's beginning because the far end is speaking. */
const MAX_HOLD_MS: Ms = 3000

/** What the far end does before the agent has begun. */
interface FarEndState {
  /** There are words, or there may be some, that are in no turn yet. */
  readonly isPending: boolean
  /** The end of the far end's last voice. */
  readonly silentSince: Ms
}

/**
 * Decides when the agent begins: after the configured delay, or after the far end has spoken or has been silent for long enough.
 * If the far end is speaking at that moment, the agent waits for it, at most 3 s.
 */
export class OpeningTimer {
  readonly #options: DialogueOptions
  readonly #begin: (opening: CallerTurn | null) => void
  #connectedAt: Ms | null = null
  #hasSpoken = false
  #opening: CallerTurn | null = null
  #deadline: Ms | undefined
  hasBegun = false

  constructor(options: DialogueOptions, begin: (opening: CallerTurn | null) => void) {
    this.#options = options
    this.#begin = begin
  }

  connect(now: Ms): void {
    this.#connectedAt = now
  }

  /** A turn of the far end before the agent began. */
  addTurn(turn: CallerTurn): void {
    this.#hasSpoken = true
    if (turn.text === '') return
    this.#opening = this.#opening === null ? turn : joined(this.#opening, turn)
  }

  settle(now: Ms, { isPending, silentSince }: FarEndState): void {
    this.#deadline = undefined
    if (this.hasBegun || this.#connectedAt === null) return
    const earliest = this.#connectedAt + this.#options.beginMessageDelayMs
    const waits = this.#options.openerWaitsForCallee && !this.#hasSpoken
    if (isPending && waits) return
    let at = earliest
    if (isPending) at += MAX_HOLD_MS
    else if (waits) {
      const patience = this.#options.openerPatienceMs ?? DEFAULT_PATIENCE_MS
      at = Math.max(earliest, Math.max(this.#connectedAt, silentSince) + patience)
    }
    if (now < at) {
      this.#deadline = at
      return
    }
    this.hasBegun = true
    this.#begin(this.#opening)
    this.#opening = null
  }

  /** When `settle` must run next. */
  deadline(): Ms | undefined {
    return this.#deadline
  }
}

function joined(first: CallerTurn, second: CallerTurn): CallerTurn {
  return {
    ...second,
    text: `${first.text} ${second.text}`,
    words: [...first.words, ...second.words],
    startMs: first.startMs,
  }
}
