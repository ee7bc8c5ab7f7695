import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { ResolveEntry } from './resolve-entries.ts'

/** Addresses of a host name: what stands before the DNS, else the system's answer. Rejects where there is none. */
export function addressesOf(entries: readonly ResolveEntry[]): (host: string) => Promise<readonly string[]> {
  return async host => {
    const own = entries.filter(({ name }) => name === host.toLowerCase()).map(entry => entry.host)
    const names = own.length === 0 ? [host] : own
    const found = await Promise.all(
      names.map(async name =>
        isIP(name) > 0 ? [name] : (await lookup(name, { all: true })).map(({ address }) => address),
      ),
    )
    return [...new Set(found.flat())]
  }
}
