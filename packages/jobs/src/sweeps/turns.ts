import type { Ms, Time, Timer } from '@parley/kernel'
import type { Lease, Leases } from '@parley/store'

export interface TurnsOptions {
  readonly leases: Leases
  /** Of the lease: one for all workers. */
  readonly name: string
  /** This process. */
  readonly owner: string
  /** A worker that dies keeps others waiting for so long. */
  readonly leaseMs: Ms
  readonly time: Time
}

/** Work that one worker does at a time: who has the turn keeps it from round to round, until it closes or dies. */
export class Turns {
  readonly #options: TurnsOptions
  #lease: Lease | null = null

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  /** Does `work` if the turn is ours, and keeps it meanwhile; false: it is somebody else's. Throws what either throws. */
  async take(work: () => Promise<boolean>): Promise<boolean> {
    const { leases, name, owner, leaseMs } = this.#options
    const kept = this.#lease === null ? null : await leases.renew(this.#lease, leaseMs)
    this.#lease = kept ?? (await leases.acquire(name, owner, leaseMs))
    if (this.#lease === null) return false
    const keeping = this.#keep()
    try {
      return await work()
    } finally {
      keeping.stop()
      await keeping.done()
    }
  }

  /** Lets another worker have it at once. Never rejects. */
  async release(): Promise<void> {
    const lease = this.#lease
    this.#lease = null
    if (lease !== null) await this.#options.leases.release(lease).catch(() => false)
  }

  /** Work may take longer than the lease. One that is lost all the same is harmless: work is safe to be done by two. */
  #keep(): { stop(): void; done(): Promise<void> } {
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
      this.#lease = await leases.renew(this.#lease, leaseMs).catch(() => this.#lease)
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
