import type { Scope } from '@parley/contract'
import type { Ms, Time } from '@parley/kernel'
import type { EnvironmentQueue } from '@parley/runs'
import type { DueWork } from '@parley/store'

/** A round in which items are under way reads so often which others became due meanwhile. */
const LOOK_AGAIN_MS: Ms = 250
/** While all places of the process are taken, a round ends after so long: other environments may wait for a place. */
const TURN_MS: Ms = 5000

interface EnvironmentRoundsOptions<Item> {
  readonly work: DueWork
  readonly queue: EnvironmentQueue
  /** Environments served at once by this process. */
  readonly environmentsAtOnce: number
  /** Items of one environment carried out at once, in all processes: it has one round at a time. */
  readonly itemsAtOnce: number
  /** Takes at most so many items that are due; they are leased to the caller. */
  readonly take: (scope: Scope, atMost: number) => Promise<readonly Item[]>
  /** Does not reject. */
  readonly carryOut: (item: Item) => Promise<void>
  /** Milliseconds until the next item is due that no process has leased; null: there is none. */
  readonly nextDueInMs: (scope: Scope) => Promise<number | null>
  readonly time: Time
}

/**
 * Carries out work that is due, environment by environment: a job of the queue is the turn of one environment, in which a
 * few of its items are carried out at a time until none is due. An environment whose items take long therefore holds its
 * own places and no others.
 */
export class EnvironmentRounds<Item> {
  readonly #options: EnvironmentRoundsOptions<Item>
  readonly #rounds = new Set<Promise<void>>()
  #stop: (() => Promise<void>) | null = null
  #isClosing = false

  constructor(options: EnvironmentRoundsOptions<Item>) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { queue, work, environmentsAtOnce } = this.#options
    this.#stop = await queue.listen(work, environmentsAtOnce, scope => this.run(scope))
  }

  /** Runs one round of an environment. Throws what the database throws, after the items under way ended. */
  run(scope: Scope): Promise<void> {
    const round = this.#run(scope).finally(() => this.#rounds.delete(round))
    this.#rounds.add(round)
    return round
  }

  /** Takes nothing more; resolves when the items under way ended. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled(this.#rounds)
    await this.#stop?.()
  }

  async #run(scope: Scope): Promise<void> {
    const { work, queue, nextDueInMs } = this.#options
    const endedEarly = await this.#workOff(scope)
    if (endedEarly) return queue.wake(work, scope)
    const inMs = await nextDueInMs(scope)
    // An overdue item that was not taken is leased to a process that died.
    if (inMs !== null) queue.wakeIn(work, scope, Math.max(inMs, LOOK_AGAIN_MS))
  }

  /** True: the turn ended before all due items were taken. */
  async #workOff(scope: Scope): Promise<boolean> {
    const { itemsAtOnce, take, time } = this.#options
    const startedAt = time.now()
    const underWay = new Set<Promise<void>>()
    try {
      for (;;) {
        const isStopping = this.#isClosing || this.#isTurnOver(startedAt)
        const places = itemsAtOnce - underWay.size
        const items = isStopping || places === 0 ? [] : await take(scope, places)
        for (const item of items) {
          const done = this.#options.carryOut(item).finally(() => underWay.delete(done))
          underWay.add(done)
        }
        if (underWay.size === 0) return isStopping
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
