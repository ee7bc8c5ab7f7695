import type { Ms, Time, Timer } from '@parley/kernel'
import type { Connection } from './connection.ts'
import type { Lifetime } from './lifetime.ts'

/** Simultaneous requests to one origin; further ones wait. */
const MAX_REQUESTS_PER_ORIGIN = 64
const MAX_IDLE = 128
/** Less than the five seconds after which common servers close: a request on a closing connection is lost. */
const IDLE_MS: Ms = 4000

interface Idle {
  readonly connection: Connection
  readonly timer: Timer
}

/** Pool of idle connections by origin and address, and the queue of requests for each origin. */
export class Connections {
  readonly #time: Time
  /** In order of idle time, the longest first. */
  readonly #idle = new Map<Connection, Idle & { readonly key: string }>()
  readonly #open = new Set<Connection>()
  readonly #busy = new Map<string, number>()
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(time: Time) {
    this.#time = time
  }

  /** Waits until the origin has fewer requests than its limit; false if the lifetime ended before. `release` ends the request. */
  async acquire(origin: string, lifetime: Lifetime): Promise<boolean> {
    if (lifetime.endedBy !== undefined) return false
    const busy = this.#busy.get(origin) ?? 0
    if (busy < MAX_REQUESTS_PER_ORIGIN) {
      this.#busy.set(origin, busy + 1)
      return true
    }
    const queue = this.#waiting.get(origin) ?? new Set()
    this.#waiting.set(origin, queue)
    const { promise, resolve } = Promise.withResolvers<true>()
    const grant = () => resolve(true)
    queue.add(grant)
    if ((await lifetime.within(promise)) === true) return true
    // The permit was granted at the moment the lifetime ended: it goes to the next request.
    if (!queue.delete(grant)) this.release(origin)
    else if (queue.size === 0) this.#waiting.delete(origin)
    return false
  }

  release(origin: string): void {
    const queue = this.#waiting.get(origin)
    const next = queue?.values().next().value
    if (queue !== undefined && next !== undefined) {
      queue.delete(next)
      if (queue.size === 0) this.#waiting.delete(origin)
      return next()
    }
    const busy = (this.#busy.get(origin) ?? 1) - 1
    if (busy === 0) this.#busy.delete(origin)
    else this.#busy.set(origin, busy)
  }

  /** The connection that was idle for the shortest time. */
  take(origin: string, address: string): Connection | undefined {
    const key = poolKey(origin, address)
    const last = [...this.#idle.values()].findLast(idle => idle.key === key && idle.connection.isOpen)
    if (last === undefined) return undefined
    last.timer.cancel()
    this.#idle.delete(last.connection)
    return last.connection
  }

  /** Adds a new connection; `close` closes it with all others. */
  add(connection: Connection): void {
    this.#open.add(connection)
  }

  /** Returns a connection to the pool after its request, if it is still open. */
  keep(connection: Connection, origin: string, address: string): void {
    if (!connection.isOpen) return
    const timer = this.#time.at(this.#time.now() + IDLE_MS, () => this.#drop(connection))
    this.#idle.set(connection, { connection, timer, key: poolKey(origin, address) })
    const [longest] = this.#idle.keys()
    if (this.#idle.size > MAX_IDLE && longest !== undefined) this.#drop(longest)
  }

  /** Removes a connection that closed by itself. */
  forget(connection: Connection): void {
    this.#idle.get(connection)?.timer.cancel()
    this.#idle.delete(connection)
    this.#open.delete(connection)
  }

  close(): void {
    for (const connection of [...this.#open]) this.#drop(connection)
  }

  /** For tests and metrics. */
  get counts(): { readonly open: number; readonly idle: number } {
    return { open: this.#open.size, idle: this.#idle.size }
  }

  #drop(connection: Connection): void {
    this.forget(connection)
    connection.close()
  }
}

function poolKey(origin: string, address: string): string {
  return `${origin} ${address}`
}
