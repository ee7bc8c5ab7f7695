import type { Ms, Time, Timer } from '@parley/kernel'
import type { Lease, Leases } from '@parley/store'

interface LeaderLeaseOptions {
  readonly leases: Leases
  /** Name of the lease, the same in all workers. */
  readonly name: string
  /** Names this process. */
  readonly owner: string
  /** A worker that dies keeps the others from the work for this long. */
  readonly leaseMs: Ms
  readonly time: Time
}

/** Work that one worker does at a time: the leader keeps its lease from round to round, until it closes or dies. */
export class LeaderLease {
  readonly #options: LeaderLeaseOptions
  #lease: Lease | null = null
  /** When the lease was acquired or last renewed. */
  #heldAt: Ms = 0

  constructor(options: LeaderLeaseOptions) {
    this.#options = options
  }

  /**
   * Does `work` if this process is the leader or becomes it. Returns the result of `work`; false also if another process
   * is the leader. Rejects if the lease query or `work` does. A lease is renewed when a third of it has passed: idle workers run
   * rounds each second, and each renewal is a commit.
   */
  async run(work: () => Promise<boolean>): Promise<boolean> {
    if (!(await this.#hold())) return false
    const renewal = this.#renewWhileWorking()
    try {
      return await work()
    } finally {
      renewal.stop()
      await renewal.done()
    }
  }

  /** Lets another worker become the leader at once. Never rejects. */
  async release(): Promise<void> {
    const lease = this.#lease
    this.#lease = null
    if (lease !== null) await this.#options.leases.release(lease).catch(() => false)
  }

  /** Whether this process is the leader now. */
  async #hold(): Promise<boolean> {
    const { leases, name, owner, leaseMs, time } = this.#options
    const askedAt = time.now()
    if (this.#lease !== null && askedAt - this.#heldAt < leaseMs / 3) return true
    const renewed = this.#lease === null ? null : await leases.renew(this.#lease, leaseMs)
    this.#lease = renewed ?? (await leases.acquire(name, owner, leaseMs))
    this.#heldAt = askedAt
    return this.#lease !== null
  }

  /** Work may take longer than the lease. Losing the lease meanwhile is harmless: the work may be done by two processes. */
  #renewWhileWorking(): { stop(): void; done(): Promise<void> } {
    const { leases, leaseMs, time } = this.#options
    let timer: Timer | null = null
    let stopped = false
    let renewing: Promise<void> = Promise.resolve()
    const schedule = () => {
      timer = time.at(time.now() + leaseMs / 3, () => {
        renewing = renew()
      })
    }
    const renew = async () => {
      if (this.#lease === null) return
      const askedAt = time.now()
      try {
        this.#lease = await leases.renew(this.#lease, leaseMs)
        this.#heldAt = askedAt
      } catch {
        // The next renewal tries again.
      }
      if (!stopped) schedule()
    }
    schedule()
    return {
      stop: () => {
        stopped = true
        timer?.cancel()
      },
      done: () => renewing,
    }
  }
}
