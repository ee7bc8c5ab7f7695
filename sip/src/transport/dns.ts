/** RFC 3403 section 4.1. */
export interface NaptrRecord {
  readonly order: number
  readonly preference: number
  readonly flags: string
  readonly service: string
  readonly regexp: string
  readonly replacement: string
}

/** RFC 2782. */
export interface SrvRecord {
  readonly priority: number
  readonly weight: number
  readonly port: number
  /** "." or empty: the service is explicitly not available at this domain. */
  readonly target: string
}

/** Port to the DNS. An empty list means that there is no such record; rejects if the query failed. */
export interface DnsPort {
  naptr(name: string): Promise<readonly NaptrRecord[]>
  srv(name: string): Promise<readonly SrvRecord[]>
  /** IPv4 and IPv6 literals, in order of preference. */
  addresses(name: string): Promise<readonly string[]>
}
