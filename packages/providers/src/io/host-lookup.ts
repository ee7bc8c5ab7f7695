/** Resolves the names of a service's hosts, as the egress policy permits. */
export type { LookupFunction as HostLookup } from 'node:net'
