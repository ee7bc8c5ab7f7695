import type { Scope } from '@parley/contract'

/** A web call whose token or resume secret was presented. */
export interface PresentedWebCall {
  readonly scope: Scope
  /** `resume`: the secret that the first answer carried. */
  readonly secret: 'token' | 'resume'
}

/** The key of a web site that a secret belongs to. */
export interface SiteKeyHolder {
  readonly scope: Scope
  readonly site_key_id: string
  readonly agent_id: string
  readonly origins: readonly string[]
  readonly concurrent_limit: number
  readonly daily_limit: number
}

/** Secrets of web calls and web sites, whatever their tenants. Hashes are SHA-256. */
export interface WebAcrossTenants {
  /** Null: the run is no web call, or the secret is not one of it. */
  callOf(runId: string, hash: Buffer): Promise<PresentedWebCall | null>
  /** Null: there is no such key, or it is revoked. */
  siteKeyOf(hash: Buffer): Promise<SiteKeyHolder | null>
}
