import type { Ms, Time, Timer } from '@parley/kernel'
import type { Connection } from './connection.ts'
import type { Lifetime } from './lifetime.ts'

/** Messages to one origin at once; further ones wait in line. */
const MOST_PER_ORIGIN = 64
const MOST_IDLE = 128
/** Less than the five seconds after which common servers close: a message into a closing connection is lost. */
const IDLE_MS: Ms = 4000

interface Idle {
  readonly connection: Connection
  readonly timer: Timer
}

/** Connections between two messages, by origin and address, and the turns of those who want to send. */
export class Connections {
  readonly #time: Time
  /** The longest idle first. */
  readonly #idle = new Map<Connection, Idle & { readonly place: string }>()
  readonly #open = new Set<Connection>()
  readonly #busy = new Map<string, number>()
  readonly #line = new Map<string, Set<() => void>>()

  constructor(time: Time) {
    this.#time = time
  }

  /** Waits for a turn; false when the lifetime ended before. A turn that was had is given back by `endTurn`. */
  async turn(origin: string, lifetime: Lifetime): Promise<boolean> {
    if (lifetime.endedBy !== undefined) return false
    const busy = this.#busy.get(origin) ?? 0
    if (busy < MOST_PER_ORIGIN) {
      this.#busy.set(origin, busy + 1)
      return true
    }
    const line = this.#line.get(origin) ?? new Set()
    this.#line.set(origin, line)
    const { promise, resolve } = Promise.withResolvers<true>()
    const called = () => resolve(true)
    line.add(called)
    const had = await lifetime.within(promise)
    if (had === true) return true
    // Called in the very moment its time ended: the turn goes to the next.
    if (!line.delete(called)) this.endTurn(origin)
    else if (line.size === 0) this.#line.delete(origin)
    return false
  }

  endTurn(origin: string): void {
    const line = this.#line.get(origin)
    const next = line?.values().next().value
    if (line !== undefined && next !== undefined) {
      line.delete(next)
      if (line.size === 0) this.#line.delete(origin)
      return next()
    }
    const busy = (this.#busy.get(origin) ?? 1) - 1
    if (busy === 0) this.#busy.delete(origin)
    else this.#busy.set(origin, busy)
  }

  /** The one that was idle for the shortest time. */
  take(origin: string, address: string): Connection | undefined {
    const place = placeOf(origin, address)
    const last = [...this.#idle.values()].findLast(idle => idle.place === place && idle.connection.isOpen)
    if (last === undefined) return undefined
    last.timer.cancel()
    this.#idle.delete(last.connection)
    return last.connection
  }

  /** A new one, to be closed with all others. */
  add(connection: Connection): void {
    this.#open.add(connection)
  }

  /** Its message is over; it waits for the next one, if it is still good for one. */
  keep(connection: Connection, origin: string, address: string): void {
    if (!connection.isOpen) return
    const timer = this.#time.at(this.#time.now() + IDLE_MS, () => this.#drop(connection))
    this.#idle.set(connection, { connection, timer, place: placeOf(origin, address) })
    const [longest] = this.#idle.keys()
    if (this.#idle.size > MOST_IDLE && longest !== undefined) this.#drop(longest)
  }

  /** It closed by itself. */
  forget(connection: Connection): void {
    this.#idle.get(connection)?.timer.cancel()
    this.#idle.delete(connection)
    this.#open.delete(connection)
  }

  close(): void {
    for (const connection of [...this.#open]) this.#drop(connection)
  }

  /** For tests and figures. */
  get counts(): { readonly open: number; readonly idle: number } {
    return { open: this.#open.size, idle: this.#idle.size }
  }

  #drop(connection: Connection): void {
    this.forget(connection)
    connection.close()
  }
}

function placeOf(origin: string, address: string): string {
  return `${origin} ${address}`
}
