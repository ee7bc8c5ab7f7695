import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { agentId, uuid } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { timestamp } from '../values/time.ts'

/** As browsers send it in the Origin header (RFC 6454 section 6.2): scheme, host, and the port where it is not the scheme's. */
const origin = text(8, 255).refine(isOrigin, 'an origin as browsers send it, such as https://www.example.com')

function isOrigin(value: string): boolean {
  if (!/^https?:\/\/[a-z0-9.:[\]-]+$/.test(value) || !URL.canParse(value)) return false
  return new URL(value).origin === value
}

const siteKey = z
  .strictObject({
    site_key_id: uuid,
    name: text(1, 128),
    agent_id: agentId,
    origins: z.array(text(1, 255)).min(1).max(20),
    /** Calls at once. */
    concurrent_limit: z.int().min(1).max(1000),
    /** Calls within 24 hours. */
    daily_limit: z.int().min(1).max(100_000),
    prefix: text(4, 32),
    created_at: timestamp,
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: 'SiteKey' })

/** A site key with its secret, which is shown at creation only. */
const siteKeyCreated = siteKey.extend({ secret: text(16, 256) }).meta({ id: 'SiteKeyCreated' })

const listSiteKeys = operation({
  id: 'site_keys.list',
  method: 'GET',
  path: '/api/v1/site-keys',
  summary: 'List the keys of web sites, including revoked ones',
  role: 'admin',
  idempotency: 'none',
  params: null,
  query: listQuery({}),
  body: null,
  output: page(siteKey),
  statuses: [200],
  refusals: {},
})

const createSiteKey = operation({
  id: 'site_keys.create',
  method: 'POST',
  path: '/api/v1/site-keys',
  summary: 'Create a key for a web site, whose pages start web calls of one agent with it and nothing else',
  role: 'admin',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z.strictObject({
    name: text(1, 128),
    agent_id: agentId,
    /** Origins of the pages that may use the key. */
    origins: z.array(origin).min(1).max(20),
    /** Calls at once. */
    concurrent_limit: z.int().min(1).max(1000).default(5),
    /** Calls within 24 hours. */
    daily_limit: z.int().min(1).max(100_000).default(100),
  }),
  output: siteKeyCreated,
  statuses: [201, 200],
  refusals: { not_found: [], conflict: ['agent_archived', 'limit_reached'] },
})

const revokeSiteKey = operation({
  id: 'site_keys.revoke',
  method: 'DELETE',
  path: '/api/v1/site-keys/{site_key_id}',
  summary: 'Revoke the key of a web site: it starts no more calls; calls of it go on without further effects',
  role: 'admin',
  idempotency: 'natural',
  params: z.strictObject({ site_key_id: uuid }),
  query: null,
  body: null,
  output: siteKey,
  statuses: [200],
  refusals: {},
})

export const siteKeyOperations = [listSiteKeys, createSiteKey, revokeSiteKey] as const
