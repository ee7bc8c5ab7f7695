import { Refusal } from '@parley/contract'
import { type Database, lockSiteKey, type PresentedSiteKey, writeAudit } from '@parley/store'
import type { AuditedResource, Platform } from '../context.ts'
import { createWebRun } from './runs-create.ts'
import type { WebAccess } from './web-access.ts'

interface SiteCalls {
  readonly database: Pick<Database, 'transaction'>
  readonly platform: Platform
}

/**
 * Creates a web run of the site key's agent, at its head, if the key is still active and within its limits. A visitor of the page
 * sets nothing of the run. Throws `Refusal`; a refusal stores nothing.
 */
export function createSiteCall(
  { database, platform }: SiteCalls,
  { scope, site_key_id }: PresentedSiteKey,
  requestId: string,
): Promise<Omit<WebAccess, 'kind'>> {
  const { owner_id, environment } = scope
  const ref = { owner_id, environment, kind: 'site_key', id: site_key_id } as const
  return database.transaction(scope, async db => {
    const key = await lockSiteKey(db, scope, site_key_id)
    if (key === null) throw noSiteKey()
    const { agent_id, live, concurrent_limit, today, daily_limit } = key
    if (live >= concurrent_limit) throw limitReached('calls at once', concurrent_limit, live)
    if (today >= daily_limit) throw limitReached('calls in 24 hours', daily_limit, today)
    let resource: AuditedResource | null = null
    const { web } = await createWebRun(
      // The widget of a site has no client of LiveKit.
      { agent_id, channel: 'web', mode: 'inbound', web_kind: 'direct', dynamic_variables: {}, metadata: null },
      {
        db,
        scope,
        platform,
        principal: { ref, canDial: false },
        idempotencyKey: null,
        auditResource: audited => {
          resource = audited
        },
        // A web run waits for the offer of its browser.
        wakeAfterCommit: () => {},
      },
    )
    await writeAudit(db, scope, {
      principal: ref,
      action: 'web_calls.create',
      resource,
      outcome: 'allowed',
      request_id: requestId,
    })
    const { kind: _, ...access } = web
    return access
  })
}

/** The refusal of a request without an active site key. */
export function noSiteKey(): Refusal<'unauthenticated'> {
  return new Refusal('unauthenticated', 'this is no active site key: an admin creates one with POST /api/v1/site-keys')
}

const RETRY_SECONDS = 60

function limitReached(what: string, limit: number, used: number): Refusal<'rate_limited'> {
  return new Refusal('rate_limited', `this site may make ${limit} ${what}, and made ${used}: try again later`, {
    reason: 'site_key_limit',
    details: { limit, used, retry_after_seconds: RETRY_SECONDS },
  })
}
