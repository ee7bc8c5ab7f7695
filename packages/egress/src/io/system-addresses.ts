import { lookup } from 'node:dns/promises'

/**
 * Lookups at once. Each blocks one of the process's four pool threads, which files need too, for as long as a name
 * server keeps silent.
 */
const MOST_AT_ONCE = 2
const MOST_WAITING = 1000

type LookUp = (host: string) => Promise<readonly string[]>

/** The system's resolver (hosts file, DNS, in the system's order); one question at a time for each name. */
export class SystemAddresses {
  readonly #lookUp: LookUp
  readonly #asked = new Map<string, Promise<readonly string[]>>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(lookUp: LookUp = systemLookUp) {
    this.#lookUp = lookUp
  }

  /** Rejects when there is no such name, or too many wait. */
  resolve(host: string): Promise<readonly string[]> {
    const asked = this.#asked.get(host)
    if (asked !== undefined) return asked
    const answer = this.#inTurn(host).finally(() => this.#asked.delete(host))
    this.#asked.set(host, answer)
    return answer
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
