import type { Scope } from '@parley/contract'
import type { Ms, Time } from '@parley/kernel'
import type { EnvironmentQueue } from '@parley/runs'
import type { DueWork } from '@parley/store'

/** A round in which items are under way reads this often which others became due meanwhile. */
const LOOK_AGAIN_MS: Ms = 250
/** While all places of the process are taken, a round ends after this long: other environments may wait for a place. */
const TURN_MS: Ms = 5000

interface EnvironmentRoundsOptions {
  readonly work: DueWork
  readonly queue: EnvironmentQueue
  /** Environments served at once by this process. */
  readonly environmentsAtOnce: number
  /** Items of one environment carried out at once, in all processes: it has one round at a time. */
  readonly itemsAtOnce: number
  readonly time: Time
}

/**
 * Carries out work that is due, environment by environment: a job of the queue is the turn of one environment, in which a
 * few of its items are carried out at a time until none is due. An environment whose items take long therefore holds its
 * own places and no others. The kinds of work extend it.
 */
export abstract class EnvironmentRounds<Item> {
  readonly #options: EnvironmentRoundsOptions
  readonly #aborting = new AbortController()
  readonly #rounds = new Set<Promise<void>>()
  #stop: (() => Promise<void>) | null = null
  #isClosing = false

  constructor(options: EnvironmentRoundsOptions) {
    this.#options = options
  }

  /** Takes at most this many items that are due; they are leased to this process. */
  protected abstract take(scope: Scope, atMost: number): Promise<readonly Item[]>
  /** Never rejects: an item that could not be settled is due again when its lease ends. */
  protected abstract carryOut(item: Item): Promise<void>
  /** Milliseconds until the next item is due that no process has leased; null: there is none. */
  protected abstract nextDueInMs(scope: Scope): Promise<number | null>

  /** Aborts when the items under way are to end at once. */
  protected get abortSignal(): AbortSignal {
    return this.#aborting.signal
  }

  /** Takes rounds from the queue until it is closed. */
  async start(): Promise<void> {
    const { queue, work, environmentsAtOnce } = this.#options
    this.#stop = await queue.listen(work, environmentsAtOnce, scope => this.round(scope))
  }

  /**
   * Carries out what is due in one environment until nothing is. Throws what the database throws, after the items under way ended.
   */
  round(scope: Scope): Promise<void> {
    const round = this.#round(scope).finally(() => this.#rounds.delete(round))
    this.#rounds.add(round)
    return round
  }

  /** Takes nothing more; resolves when the items under way ended. */
  async close(): Promise<void> {
    this.#isClosing = true
    // Rounds end early from now on and wake their environment: a process that still listened would take each of them at once, and wake it again.
    await Promise.all([this.#stop?.(), Promise.allSettled(this.#rounds)])
  }

  /** Aborts the items under way; they are due again when their leases end. */
  abort(): void {
    this.#aborting.abort()
  }

  async #round(scope: Scope): Promise<void> {
    const { work, queue } = this.#options
    const endedEarly = await this.#workOff(scope)
    if (endedEarly) return queue.wake(work, scope)
    const inMs = await this.nextDueInMs(scope)
    // An overdue item that was not taken is leased to a process that died.
    if (inMs !== null) queue.wakeIn(work, scope, Math.max(inMs, LOOK_AGAIN_MS))
  }

  /** True: the turn ended before all due items were taken. */
  async #workOff(scope: Scope): Promise<boolean> {
    const { itemsAtOnce, time } = this.#options
    const startedAt = time.now()
    const underWay = new Set<Promise<void>>()
    try {
      for (;;) {
        const isStopping = this.#isClosing || this.#isTurnOver(startedAt)
        const wereUnderWay = underWay.size
        const places = itemsAtOnce - wereUnderWay
        const items = isStopping || places === 0 ? [] : await this.take(scope, places)
        for (const item of items) {
          const done = this.carryOut(item).finally(() => underWay.delete(done))
          underWay.add(done)
        }
        if (underWay.size === 0) {
          // What ended during the look may have made other work due.
          if (wereUnderWay > 0 && !isStopping) continue
          return isStopping
        }
        await this.#anyEnds(underWay, underWay.size < itemsAtOnce && !isStopping)
      }
    } finally {
      await Promise.all(underWay)
    }
  }

  #isTurnOver(startedAt: Ms): boolean {
    const { time, environmentsAtOnce } = this.#options
    return this.#rounds.size >= environmentsAtOnce && time.now() - startedAt >= TURN_MS
  }

  async #anyEnds(underWay: ReadonlySet<Promise<void>>, looksAgain: boolean): Promise<void> {
    const { time } = this.#options
    const late = Promise.withResolvers<void>()
    const timer = looksAgain ? time.at(time.now() + LOOK_AGAIN_MS, () => late.resolve()) : null
    await Promise.race([...underWay, late.promise])
    timer?.cancel()
  }
}
