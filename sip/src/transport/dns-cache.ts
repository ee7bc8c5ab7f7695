import { type Ms, RecentMap, type Time } from '@parley/kernel'
import { SipError } from '../errors.ts'
import type { DnsPort, NaptrRecord, SrvRecord } from './dns.ts'

export interface DnsCacheOptions {
  readonly time: Time
  /** How long an answer (also an empty one) is cached; default 30 s. Fixed, because Node reports no TTL for NAPTR and SRV. */
  readonly answerMs?: Ms
  /** How long a failed query is not repeated; default 5 s. */
  readonly failureMs?: Ms
  /** How long a stale answer is served while the DNS does not respond (RFC 8767); default 1 h. */
  readonly staleMs?: Ms
  /** Timeout of NAPTR and SRV queries; default 2 s. */
  readonly recordTimeoutMs?: Ms
  /** Timeout of address queries; default 5 s. */
  readonly addressTimeoutMs?: Ms
  /** Names per record type whose answers are cached at least; at most twice as many; default 1000. */
  readonly capacity?: number
  /** Concurrent queries per record type; further ones fail with "dns_busy"; default 64. */
  readonly concurrency?: number
}

type Limits = Required<Omit<DnsCacheOptions, 'recordTimeoutMs' | 'addressTimeoutMs'>> & { readonly timeoutMs: Ms }

/**
 * Answers for a short fixed time and asks nothing twice at once. Rejects with `SipError` "dns_timeout", "dns_busy",
 * or the error of the DNS.
 */
export class DnsCache implements DnsPort {
  readonly #naptr: AnswerCache<NaptrRecord>
  readonly #srv: AnswerCache<SrvRecord>
  readonly #addresses: AnswerCache<string>

  constructor(dns: DnsPort, options: DnsCacheOptions) {
    const { recordTimeoutMs = 2_000, addressTimeoutMs = 5_000, ...rest } = options
    const common = {
      answerMs: 30_000,
      failureMs: 5_000,
      staleMs: 3_600_000,
      capacity: 1_000,
      concurrency: 64,
      ...rest,
    }
    this.#naptr = new AnswerCache(name => dns.naptr(name), { ...common, timeoutMs: recordTimeoutMs })
    this.#srv = new AnswerCache(name => dns.srv(name), { ...common, timeoutMs: recordTimeoutMs })
    this.#addresses = new AnswerCache(name => dns.addresses(name), { ...common, timeoutMs: addressTimeoutMs })
  }

  naptr(name: string): Promise<readonly NaptrRecord[]> {
    return this.#naptr.get(name)
  }

  srv(name: string): Promise<readonly SrvRecord[]> {
    return this.#srv.get(name)
  }

  addresses(name: string): Promise<readonly string[]> {
    return this.#addresses.get(name)
  }
}

interface Entry<Item> {
  readonly answer: Promise<readonly Item[]>
  /** Infinity while the query is in progress. */
  until: Ms
  good: { readonly records: readonly Item[]; readonly at: Ms } | undefined
}

class AnswerCache<Item> {
  readonly #ask: (name: string) => Promise<readonly Item[]>
  readonly #limits: Limits
  readonly #entries: RecentMap<string, Entry<Item>>
  #underWay = 0

  constructor(ask: (name: string) => Promise<readonly Item[]>, limits: Limits) {
    this.#ask = ask
    this.#limits = limits
    this.#entries = new RecentMap(limits.capacity)
  }

  get(name: string): Promise<readonly Item[]> {
    const { time } = this.#limits
    const key = name.toLowerCase()
    const known = this.#entries.get(key)
    if (known !== undefined && time.now() < known.until) return known.answer
    const entry: Entry<Item> = {
      answer: this.#question(name).then(
        records => {
          entry.good = { records, at: time.now() }
          entry.until = time.now() + this.#limits.answerMs
          return records
        },
        error => {
          entry.until = time.now() + this.#limits.failureMs
          if (entry.good === undefined || time.now() - entry.good.at > this.#limits.staleMs) throw error
          return entry.good.records
        },
      ),
      until: Number.POSITIVE_INFINITY,
      good: known?.good,
    }
    this.#entries.set(key, entry)
    return entry.answer
  }

  async #question(name: string): Promise<readonly Item[]> {
    const { time, timeoutMs, concurrency } = this.#limits
    if (this.#underWay >= concurrency)
      throw new SipError('dns_busy', `${this.#underWay} DNS queries are already in progress; try again later`)
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = time.at(time.now() + timeoutMs, () =>
      reject(new SipError('dns_timeout', `the DNS did not answer for ${name} within ${timeoutMs} ms`)),
    )
    this.#underWay++
    // Counted until the query itself ends: a query that timed out here still occupies the system resolver.
    const query = this.#ask(name).finally(() => this.#underWay--)
    try {
      return await Promise.race([query, late])
    } finally {
      timer.cancel()
    }
  }
}
