import { lookup } from 'node:dns/promises'
import type { Ms, Time } from '@parley/kernel'

/**
 * Simultaneous lookups. Each blocks one of the process's four pool threads, which file access needs too, until the DNS
 * server answers.
 */
const MAX_CONCURRENT = 2
const MAX_WAITING = 1000
/** While the resolver is busy, a name's last answer is used for this long. */
const RECENT_MS: Ms = 600_000
const MAX_RECENT = 1000

type LookUp = (host: string) => Promise<readonly string[]>

/**
 * The system's resolver (hosts file, DNS, in the system's order); one lookup at a time for each name. Names whose
 * DNS servers do not answer delay only names without a recent answer.
 */
export class SystemAddresses {
  readonly #time: Time
  readonly #lookUp: LookUp
  readonly #lookups = new Map<string, Promise<readonly string[]>>()
  /** Answers in order of their age, the oldest first. */
  readonly #recent = new Map<string, { readonly addresses: readonly string[]; readonly until: Ms }>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(time: Time, lookUp: LookUp = systemLookUp) {
    this.#time = time
    this.#lookUp = lookUp
  }

  /** Rejects if the name does not exist, or if too many lookups wait. */
  async resolve(host: string): Promise<readonly string[]> {
    const isBusy = this.#running === MAX_CONCURRENT
    const answer = this.#lookups.get(host) ?? this.#startLookUp(host)
    const recent = this.#recent.get(host)
    if (!isBusy || recent === undefined || recent.until <= this.#time.now()) return answer
    // The lookup still runs, so that the next request gets its answer.
    answer.catch(() => {})
    return recent.addresses
  }

  #startLookUp(host: string): Promise<readonly string[]> {
    const answer = this.#lookUpInOrder(host)
      .then(addresses => this.#store(host, addresses))
      .finally(() => this.#lookups.delete(host))
    this.#lookups.set(host, answer)
    return answer
  }

  #store(host: string, addresses: readonly string[]): readonly string[] {
    this.#recent.delete(host)
    this.#recent.set(host, { addresses, until: this.#time.now() + RECENT_MS })
    const [longest] = this.#recent.keys()
    if (this.#recent.size > MAX_RECENT && longest !== undefined) this.#recent.delete(longest)
    return addresses
  }

  async #lookUpInOrder(host: string): Promise<readonly string[]> {
    if (this.#running < MAX_CONCURRENT) this.#running++
    else if (this.#waiting.length < MAX_WAITING) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else throw new Error('too many names wait for the resolver; try again later')
    try {
      return await this.#lookUp(host)
    } finally {
      // A waiting lookup starts in place of this one, so `#running` stays the same.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}

async function systemLookUp(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}
