import type { Scope } from '@parley/contract'

/** A web call whose token or resume secret was presented. */
export interface PresentedWebCall {
  readonly scope: Scope
  /** `resume`: the secret that the first answer carried. */
  readonly secret: 'token' | 'resume'
}

/** Secrets of web calls, whatever their tenants. Hashes are SHA-256. */
export interface WebAcrossTenants {
  /** Null: the run is no web call, or the secret is not one of it. */
  callOf(runId: string, hash: Buffer): Promise<PresentedWebCall | null>
}
