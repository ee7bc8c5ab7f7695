import { type Ms, type Random, randomBelow } from '@parley/kernel'
import { MediaError } from '../errors.ts'

interface PortPoolOptions {
  /** First and last port of the range, inclusive. */
  readonly from: number
  readonly to: number
  /**
   * Time before a released port is leased again, so that a late packet of the old call cannot reach the new one.
   * Default 2000.
   */
  readonly drainMs?: Ms
  /** Time before a port that could not be bound is tried again. Default 30000. */
  readonly retryMs?: Ms
  /**
   * Chooses the first port. Default: the lowest. After a crash, far ends may still send to the first ports of the
   * process that died; a process that replaces it should not lease these ports to its own first calls, which would
   * latch onto the old audio (symmetric RTP).
   */
  readonly random?: Random
}

const DRAIN_MS: Ms = 2000
const RETRY_MS: Ms = 30_000

/**
 * Leases RTP ports: even numbers, RTCP takes the odd one above (RFC 3550 section 11). Both belong to the lease,
 * because a peer decides about RTP/RTCP multiplexing (RFC 5761). Ports are taken in turn over the whole range, the one
 * that rested longest first. Time is an input.
 */
export class PortPool {
  readonly #drainMs: Ms
  readonly #retryMs: Ms
  /** Free ports in the order they are leased; `#head` walks it so that taking one is O(1). */
  #free: number[] = []
  #head = 0
  /** Resting ports, earliest first per kind of rest. */
  readonly #draining: { port: number; until: Ms }[] = []
  readonly #refused: { port: number; until: Ms }[] = []
  readonly #leased = new Set<number>()

  constructor(options: PortPoolOptions) {
    const { from, to } = options
    if (!Number.isInteger(from) || !Number.isInteger(to) || from < 1 || to > 65535) {
      throw new MediaError('invalid_port_range', `RTP ports ${from}-${to} are not within 1-65535`)
    }
    this.#drainMs = options.drainMs ?? DRAIN_MS
    this.#retryMs = options.retryMs ?? RETRY_MS
    for (let port = from + (from % 2); port + 1 <= to; port += 2) this.#free.push(port)
    if (this.#free.length === 0) {
      throw new MediaError('invalid_port_range', `RTP ports ${from}-${to} hold no even port with an odd one above it`)
    }
    if (options.random !== undefined) {
      const first = randomBelow(options.random, this.#free.length)
      this.#free = [...this.#free.slice(first), ...this.#free.slice(0, first)]
    }
  }

  /** An even port; throws `MediaError` "no_rtp_port" (retryable) when all are leased or resting. */
  lease(now: Ms): number {
    this.#wake(now)
    const port = this.#free[this.#head]
    if (port === undefined) {
      throw new MediaError('no_rtp_port', `all RTP ports are taken (${this.#leased.size} leased, others drain)`)
    }
    this.#head++
    this.#leased.add(port)
    return port
  }

  /** The call is over: the port drains, then can be leased again. Idempotent. */
  release(now: Ms, port: number): void {
    if (this.#leased.delete(port)) this.#draining.push({ port, until: now + this.#drainMs })
  }

  /** The port (or the one above) could not be bound because another process has it; it is tried again later. */
  refuse(now: Ms, port: number): void {
    if (this.#leased.delete(port)) this.#refused.push({ port, until: now + this.#retryMs })
  }

  get leased(): number {
    return this.#leased.size
  }

  /** Ports that could be leased at `now`. */
  available(now: Ms): number {
    this.#wake(now)
    return this.#free.length - this.#head
  }

  #wake(now: Ms): void {
    if (this.#head > 1024) {
      this.#free = this.#free.slice(this.#head)
      this.#head = 0
    }
    for (const resting of [this.#draining, this.#refused]) {
      while (resting.length > 0 && resting[0]!.until <= now) this.#free.push(resting.shift()!.port)
    }
  }
}
