import type { NextHop } from '@parley/leg'
import type { SipUri } from '@parley/sip'
import type { TrunkDetails } from '@parley/store'

/**
 * Where requests to a trunk go: its host, over the transport and to the port of its settings; default TLS, and the port by the DNS. A
 * tenant names the host, so that it leads only to addresses that the platform permits.
 */
export function trunkHop(host: string, { port, transport }: Pick<TrunkDetails, 'port' | 'transport'>): NextHop {
  return { host, port, transport: transport ?? 'tls', serverName: undefined, isRestricted: true }
}

/** A URI at a trunk's host; `user` null: of the host itself. */
export function trunkUri(user: string | null, host: string): SipUri {
  return {
    scheme: 'sip',
    user: user ?? undefined,
    password: undefined,
    host,
    port: undefined,
    params: new Map(),
    headers: [],
  }
}
