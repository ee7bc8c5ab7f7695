import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { ResolveEntry } from './resolve-entries.ts'

/** Resolves a host name to its IP addresses: by PARLEY_RESOLVE if that has the name, else by the system's resolver. Rejects if there are none. */
export function addressesOf(entries: readonly ResolveEntry[]): (host: string) => Promise<readonly string[]> {
  return async host => {
    const configured = entries.filter(({ name }) => name === host.toLowerCase()).map(entry => entry.host)
    const names = configured.length === 0 ? [host] : configured
    const found = await Promise.all(
      names.map(async name =>
        isIP(name) > 0 ? [name] : (await lookup(name, { all: true })).map(({ address }) => address),
      ),
    )
    return [...new Set(found.flat())]
  }
}
