import type { Socket } from 'node:net'
import type { Ms, Time } from '@parley/kernel'

/** Time that received data may occupy the event loop in one turn, not counting the current chunk. */
const TURN_MS: Ms = 10

/**
 * Shares the event loop between connections: Node takes up to 2 MB from a socket before it looks at timers or at other
 * connections. A connection with more work than fits into a turn is paused and queued, which also closes its TCP window.
 */
export class ReadScheduler {
  readonly #time: Time
  readonly #waiting = new Set<Socket>()
  #spentMs: Ms = 0
  #scheduled = false

  constructor(time: Time) {
    this.#time = time
  }

  /** Runs the work for data that `socket` received. */
  run(socket: Socket, work: () => void): void {
    const began = this.#time.now()
    work()
    this.#spentMs += this.#time.now() - began
    if (this.#spentMs >= TURN_MS && !socket.destroyed) {
      socket.pause()
      this.#waiting.add(socket)
    }
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#spentMs = 0
      this.#resumeOne()
      if (this.#waiting.size > 0) this.#schedule()
    })
  }

  #resumeOne(): void {
    for (const socket of this.#waiting) {
      this.#waiting.delete(socket)
      if (socket.destroyed) continue
      socket.resume()
      return
    }
  }
}
