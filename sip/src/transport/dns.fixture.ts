import type { DnsPort, NaptrRecord, SrvRecord } from './dns.ts'

type Answer<Item> = readonly Item[] | Error

/** A scripted DNS: answers with the records of the test and records the queries. */
export class ScriptedDns implements DnsPort {
  readonly queries: string[] = []
  readonly #naptr: ReadonlyMap<string, Answer<NaptrRecord>>
  readonly #srv: ReadonlyMap<string, Answer<SrvRecord>>
  readonly #addresses: ReadonlyMap<string, Answer<string>>

  constructor(zone: {
    naptr?: Record<string, Answer<NaptrRecord>>
    srv?: Record<string, Answer<SrvRecord>>
    addresses?: Record<string, Answer<string>>
  }) {
    this.#naptr = new Map(Object.entries(zone.naptr ?? {}))
    this.#srv = new Map(Object.entries(zone.srv ?? {}))
    this.#addresses = new Map(Object.entries(zone.addresses ?? {}))
  }

  naptr(name: string): Promise<readonly NaptrRecord[]> {
    return this.#answer('NAPTR', this.#naptr, name)
  }

  srv(name: string): Promise<readonly SrvRecord[]> {
    return this.#answer('SRV', this.#srv, name)
  }

  addresses(name: string): Promise<readonly string[]> {
    return this.#answer('A', this.#addresses, name)
  }

  async #answer<Item>(kind: string, zone: ReadonlyMap<string, Answer<Item>>, name: string): Promise<readonly Item[]> {
    this.queries.push(`${kind} ${name}`)
    const answer = zone.get(name) ?? []
    if (answer instanceof Error) throw answer
    return answer
  }
}

/** `order preference "s" service "" replacement` */
export function pointer(order: number, preference: number, service: string, replacement: string): NaptrRecord {
  return { order, preference, flags: 's', service, regexp: '', replacement }
}

export function service(priority: number, weight: number, port: number, target: string): SrvRecord {
  return { priority, weight, port, target }
}
