import { lookup } from 'node:dns/promises'
import type { Ms, Time } from '@parley/kernel'

/**
 * Lookups at once. Each blocks one of the process's four pool threads, which files need too, for as long as a name
 * server keeps silent.
 */
const MOST_AT_ONCE = 2
const MOST_WAITING = 1000
/** While the resolver is busy a name's last answer will do for so long. */
const KEPT_MS: Ms = 600_000
const MOST_KEPT = 1000

type LookUp = (host: string) => Promise<readonly string[]>

/**
 * The system's resolver (hosts file, DNS, in the system's order); one question at a time for each name. Names whose
 * servers keep silent hold up names that nobody asked for yet, and no others.
 */
export class SystemAddresses {
  readonly #time: Time
  readonly #lookUp: LookUp
  readonly #asked = new Map<string, Promise<readonly string[]>>()
  /** The longest kept first. */
  readonly #kept = new Map<string, { readonly addresses: readonly string[]; readonly until: Ms }>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(time: Time, lookUp: LookUp = systemLookUp) {
    this.#time = time
    this.#lookUp = lookUp
  }

  /** Rejects when there is no such name, or too many wait. */
  async resolve(host: string): Promise<readonly string[]> {
    const isBusy = this.#running === MOST_AT_ONCE
    const answer = this.#asked.get(host) ?? this.#ask(host)
    const kept = this.#kept.get(host)
    if (!isBusy || kept === undefined || kept.until <= this.#time.now()) return answer
    // Asked all the same, for the next one.
    answer.catch(() => {})
    return kept.addresses
  }

  #ask(host: string): Promise<readonly string[]> {
    const answer = this.#inTurn(host)
      .then(addresses => this.#keep(host, addresses))
      .finally(() => this.#asked.delete(host))
    this.#asked.set(host, answer)
    return answer
  }

  #keep(host: string, addresses: readonly string[]): readonly string[] {
    this.#kept.delete(host)
    this.#kept.set(host, { addresses, until: this.#time.now() + KEPT_MS })
    const [longest] = this.#kept.keys()
    if (this.#kept.size > MOST_KEPT && longest !== undefined) this.#kept.delete(longest)
    return addresses
  }

  async #inTurn(host: string): Promise<readonly string[]> {
    if (this.#running < MOST_AT_ONCE) this.#running++
    else if (this.#waiting.length < MOST_WAITING) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else throw new Error('too many names wait for the resolver')
    try {
      return await this.#lookUp(host)
    } finally {
      // A turn is handed on, not given back, while somebody waits.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}

async function systemLookUp(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}
