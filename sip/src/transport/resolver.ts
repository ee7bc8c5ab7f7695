import type { NextHop, Target, TransportName } from './transport.ts'

/** Port to RFC 3263 server location: targets in order of preference, empty if there is none. May reject. */
export interface Resolver {
  resolve(hop: NextHop): Promise<readonly Target[]>
}

/** RFC 3261 section 19.1.2: 5061 for TLS, 5060 otherwise. */
export function defaultPort(transport: TransportName): number {
  return transport === 'tls' ? 5061 : 5060
}

/** `host` without the brackets of an IPv6 reference. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
