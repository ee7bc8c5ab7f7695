import { Refusal } from '@parley/contract'
import {
  cancelRunsOfSiteKey,
  ENVIRONMENT_LIMITS,
  insertSiteKey,
  listSiteKeys,
  lockAgentAgainstArchiving,
  newSiteKeySecret,
  revokeSiteKey,
} from '@parley/store'
import type { AuditedResource, Handlers } from '../context.ts'
import { agentArchived, noAgent } from './agents-refusals.ts'

export const siteKeyHandlers = {
  'site_keys.list': async ({ query: { cursor, limit } }, { db, scope }) => {
    const { rows, next_cursor } = await listSiteKeys(db, scope, { cursor: cursor ?? null, limit })
    return { status: 200, body: { items: rows, next_cursor } }
  },

  'site_keys.create': async ({ body }, context) => {
    const { db, scope, platform } = context
    const { name, agent_id, origins, concurrent_limit, daily_limit } = body
    const agent = await lockAgentAgainstArchiving(db, scope, agent_id)
    if (agent === null) throw noAgent(agent_id)
    if (agent.archived_at !== null) throw agentArchived(agent_id)
    const made = newSiteKeySecret({ bytes: platform.randomBytes })
    const values = { name, agent_id, origins: [...new Set(origins)], concurrent_limit, daily_limit }
    const key = await insertSiteKey(db, scope, values, made)
    if (key === null)
      throw new Refusal(
        'conflict',
        `the environment has ${ENVIRONMENT_LIMITS.site_keys} active site keys: revoke one first`,
        { reason: 'limit_reached' },
      )
    context.auditResource(ofSiteKey(key.site_key_id))
    return { status: 201, body: { ...key, secret: made.secret } }
  },

  'site_keys.revoke': async ({ params: { site_key_id } }, context) => {
    context.auditResource(ofSiteKey(site_key_id))
    const key = await revokeSiteKey(context.db, context.scope, site_key_id)
    if (key === null) throw new Refusal('not_found', `there is no site key ${site_key_id}`)
    // Calls whose page has not made its offer yet never start.
    for (const runId of await cancelRunsOfSiteKey(context.db, context.scope, site_key_id)) {
      context.notifyAfterCommit('run_orders', runId)
      context.notifyAfterCommit('runs', runId)
    }
    return { status: 200, body: key }
  },
} satisfies Partial<Handlers>

function ofSiteKey(siteKeyId: string): AuditedResource {
  return { kind: 'operation', id: `site-keys/${siteKeyId}` }
}
