import type { TenantShare } from './runs/protocol.ts'

/** All that is taken may be one tenant's. */
export function unshared(atMost: number): TenantShare {
  return { eachAtMost: atMost, underWay: [], after: null }
}
