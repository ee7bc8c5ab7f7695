import type { Socket } from 'node:net'
import type { Ms, Time } from '@parley/kernel'

/** What connections bring may keep the event loop busy that long in one turn, but for the chunk at hand. */
const TURN_MS: Ms = 10

/**
 * Shares the event loop between connections: Node takes up to 2 MB from a socket before it looks at timers or at anybody
 * else. Whoever brings more work than a turn has room for waits in line, and his TCP window with him.
 */
export class ReadScheduler {
  readonly #time: Time
  readonly #waiting = new Set<Socket>()
  #spentMs: Ms = 0
  #scheduled = false

  constructor(time: Time) {
    this.#time = time
  }

  /** Works off something that `socket` brought. */
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
