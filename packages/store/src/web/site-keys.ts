import { createHash } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { type Random, randomToken } from '@parley/kernel'
import { sql } from 'kysely'
import { ENVIRONMENT_LIMITS, takeTurn } from '../environment-limits.ts'
import { type KeysetColumn, type Page, type PageRequest, readPage } from '../keyset.ts'
import type { Queries } from '../protocol.ts'

/** 160 bits. */
const SECRET_CHARACTERS = 32
const PREFIX_CHARACTERS = 10

interface SiteKeySecret {
  /** `pk_` and 32 of `[a-z2-7]`. */
  readonly secret: string
  /** Its first characters, shown in lists. */
  readonly prefix: string
  readonly hash: Buffer
}

export function newSiteKeySecret(random: Random): SiteKeySecret {
  const secret = `pk_${randomToken(random, SECRET_CHARACTERS)}`
  return { secret, prefix: secret.slice(0, PREFIX_CHARACTERS), hash: siteKeyHash(secret) }
}

/** SHA-256, as it is stored. */
export function siteKeyHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

interface NewSiteKey {
  readonly name: string
  readonly agent_id: string
  /** As in the Origin header. */
  readonly origins: readonly string[]
  /** Calls at once. */
  readonly concurrent_limit: number
  /** Calls within 24 hours. */
  readonly daily_limit: number
}

/** A site key without its hash. */
interface SiteKeyRow extends Omit<NewSiteKey, 'origins'> {
  readonly site_key_id: string
  readonly origins: string[]
  readonly prefix: string
  readonly created_at: string
  readonly revoked_at: string | null
}

const COLUMNS = [
  'site_key_id',
  'name',
  'agent_id',
  'origins',
  'concurrent_limit',
  'daily_limit',
  'prefix',
  'created_at',
  'revoked_at',
] as const

/** Null: the environment has the maximum number of active site keys. */
export async function insertSiteKey(
  tx: Queries,
  scope: Scope,
  key: NewSiteKey,
  { prefix, hash }: SiteKeySecret,
): Promise<SiteKeyRow | null> {
  await takeTurn(tx, scope, 'site_keys')
  const { active } = await tx
    .selectFrom('site_keys')
    .select(sql<number>`count(*)::integer`.as('active'))
    .where('tenant_id', '=', scope.tenant_id)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (active >= ENVIRONMENT_LIMITS.site_keys) return null
  return tx
    .insertInto('site_keys')
    .values({ ...key, origins: [...key.origins], tenant_id: scope.tenant_id, prefix, secret_hash: hash })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

const NEWEST_FIRST: readonly KeysetColumn<SiteKeyRow>[] = [
  { column: 'created_at', type: 'instant', direction: 'desc' },
  { column: 'site_key_id', type: 'uuid', direction: 'asc' },
]

/** Lists site keys, newest first, including revoked ones. Throws the refusal `invalid_cursor`. */
export function listSiteKeys(db: Queries, scope: Scope, page: PageRequest): Promise<Page<SiteKeyRow>> {
  const keys = db.selectFrom('site_keys').select(COLUMNS).where('tenant_id', '=', scope.tenant_id)
  const binding = { operation: 'site_keys.list', tenantId: scope.tenant_id, filters: {}, sort: 'created_desc' }
  return readPage(keys, NEWEST_FIRST, binding, page)
}

/** Revokes the key, after the calls that are being created with it; one that is revoked already does not change. Null: there is no such key. */
export async function revokeSiteKey(tx: Queries, scope: Scope, siteKeyId: string): Promise<SiteKeyRow | null> {
  const revoked = await tx
    .updateTable('site_keys')
    .set({ revoked_at: sql<string>`coalesce(revoked_at, parley.now_ms())` })
    .where('tenant_id', '=', scope.tenant_id)
    .where('site_key_id', '=', siteKeyId)
    .returning(COLUMNS)
    .executeTakeFirst()
  return revoked ?? null
}

interface SiteKeyUse {
  readonly site_key_id: string
  readonly agent_id: string
  readonly concurrent_limit: number
  readonly daily_limit: number
  /** Calls in progress, or waiting for their page. */
  readonly live: number
  /** Calls of the last 24 hours. */
  readonly today: number
}

/**
 * The key and the number of its calls; both hold until the transaction ends, since other calls of the key and its revocation
 * wait for it. Null: the key is revoked.
 */
export async function lockSiteKey(tx: Queries, scope: Scope, siteKeyId: string): Promise<SiteKeyUse | null> {
  const locked = await tx
    .selectFrom('site_keys')
    .select(['site_key_id', 'agent_id', 'concurrent_limit', 'daily_limit'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('site_key_id', '=', siteKeyId)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (locked === undefined) return null
  // A statement of its own: its snapshot is taken once the lock is held.
  const { rows } = await sql<{ live: number; today: number }>`
    select
      (select count(distinct w.run_id)::integer from parley.run_ownership o
       join parley.web_calls w on w.tenant_id = o.tenant_id and w.run_id = coalesce(o.first_run_id, o.run_id)
       where o.tenant_id = ${scope.tenant_id}::uuid and w.site_key_id = ${siteKeyId}::uuid) as live,
      (select count(*)::integer from parley.web_calls w
       where w.tenant_id = ${scope.tenant_id}::uuid and w.site_key_id = ${siteKeyId}::uuid
         and w.created_at > clock_timestamp() - interval '24 hours') as today`.execute(tx)
  return { ...locked, ...rows[0]! }
}
