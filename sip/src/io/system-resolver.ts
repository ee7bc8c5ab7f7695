import { type Random, systemRandom, type Time } from '@parley/kernel'
import type { DnsPort } from '../transport/dns.ts'
import { DnsCache, type DnsCacheOptions } from '../transport/dns-cache.ts'
import type { Resolver } from '../transport/resolver.ts'
import { type ResolveOverrides, ServerLocator, type TargetPermit } from '../transport/server-location.ts'
import type { NextHop, Target } from '../transport/transport.ts'
import { SystemDns } from './system-dns.ts'

interface SystemResolverOptions {
  readonly time: Time
  /** Default: the system's. */
  readonly random?: Random
  readonly overrides?: ResolveOverrides
  /** Whether a restricted hop may lead to an address. Default: to all. */
  readonly permits?: TargetPermit
  /** Default: that of the system. */
  readonly dns?: DnsPort
  readonly cache?: Omit<DnsCacheOptions, 'time'>
}

/** RFC 3263 with the system's DNS, cached for a short time. */
export class SystemResolver implements Resolver {
  readonly #locator: ServerLocator
  readonly #own: SystemDns | undefined

  constructor(options: SystemResolverOptions) {
    const { time, random = systemRandom, overrides, permits, cache } = options
    this.#own = options.dns === undefined ? new SystemDns() : undefined
    const dns = new DnsCache(options.dns ?? this.#own!, { ...cache, time })
    this.#locator = new ServerLocator({ dns, random, ...(overrides && { overrides }), ...(permits && { permits }) })
  }

  resolve(hop: NextHop): Promise<readonly Target[]> {
    return this.#locator.resolve(hop)
  }

  /** Cancels the pending queries. */
  close(): void {
    this.#own?.cancel()
  }
}
