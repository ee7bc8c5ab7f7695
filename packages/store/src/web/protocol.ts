import type { Scope } from '@parley/contract'

/** A web call whose token or resume secret was presented. */
export interface PresentedWebCall {
  readonly scope: Scope
  /** `resume`: the secret that the first answer carried. */
  readonly secret: 'token' | 'resume'
}

/** A site key whose secret was presented. */
export interface PresentedSiteKey {
  readonly scope: Scope
  readonly site_key_id: string
  readonly origins: readonly string[]
}

/** Secrets of web calls and of sites, whatever their tenants. Hashes are SHA-256. */
export interface WebAcrossTenants {
  /** Null: the run is no web call, or the secret is not one of it. */
  callOf(runId: string, hash: Buffer): Promise<PresentedWebCall | null>
  /** Null: no active site key has this secret. */
  siteKeyOf(hash: Buffer): Promise<PresentedSiteKey | null>
  /** Whether an active site key names this origin. */
  isSiteOrigin(origin: string): Promise<boolean>
}
