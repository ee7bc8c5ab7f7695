import { lookup, Resolver } from 'node:dns/promises'
import type { DnsPort, NaptrRecord, SrvRecord } from '../transport/dns.ts'
import { errorCode } from './socket-error.ts'

interface SystemDnsOptions {
  /** Name servers for NAPTR and SRV, as `address:port`; default: the system's. */
  readonly servers?: readonly string[]
}

/** Most records of one answer that are used; the best ones are kept. */
const MAX_RECORDS = 64

/**
 * The DNS of this machine. NAPTR and SRV are asked of its name servers (four tries, half a second apart); addresses come
 * from the system's own lookup, so that its hosts file counts, IPv4 first: carriers and phones that publish both rarely
 * serve SIP on both. CNAMEs are followed by the name servers.
 */
export class SystemDns implements DnsPort {
  readonly #resolver = new Resolver({ timeout: 500, tries: 4, maxTimeout: 500 })

  constructor(options: SystemDnsOptions = {}) {
    if (options.servers !== undefined) this.#resolver.setServers(options.servers)
  }

  async naptr(name: string): Promise<readonly NaptrRecord[]> {
    const records = await orNone(this.#resolver.resolveNaptr(name))
    return records.sort((a, b) => a.order - b.order || a.preference - b.preference).slice(0, MAX_RECORDS)
  }

  async srv(name: string): Promise<readonly SrvRecord[]> {
    const records = await orNone(this.#resolver.resolveSrv(name))
    const best = records.sort((a, b) => a.priority - b.priority).slice(0, MAX_RECORDS)
    return best.map(({ priority, weight, port, name: target }) => ({ priority, weight, port, target }))
  }

  async addresses(name: string): Promise<readonly string[]> {
    const found = await orNone(lookup(name, { all: true, order: 'ipv4first' }))
    return found.slice(0, MAX_RECORDS).map(({ address }) => address)
  }

  /** Rejects the pending queries; called at shutdown. */
  cancel(): void {
    this.#resolver.cancel()
  }
}

/** Whether the error means that there is no such name or record, which is an answer; other errors are failures. */
async function orNone<Item>(question: Promise<Item[]>): Promise<Item[]> {
  try {
    return await question
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw error
  }
}
