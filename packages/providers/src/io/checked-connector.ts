import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'

/**
 * Connects to what `lookup` permits. Node asks no lookup for a literal address, so it is asked here: an address may have been permitted when
 * it was stored and be refused now.
 */
export function checkedConnector(timeout: number, lookup: LookupFunction): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup, allowH2: false })
  return (options, done) => {
    if (isIP(options.hostname) === 0) return connect(options, done)
    lookup(options.hostname, {}, error => (error === null ? connect(options, done) : done(error, null)))
  }
}
