import { createHash } from 'node:crypto'
import type { Role, Scope } from '@parley/contract'
import { type Random, randomBelow } from '@parley/kernel'
import { sql } from 'kysely'
import { ENVIRONMENT_LIMITS, takeTurn } from './environment-limits.ts'
import { type KeysetColumn, type Page, type PageRequest, readPage } from './keyset.ts'
import { PreparedQuery } from './prepared-query.ts'
import type { PresentedKey } from './presented-key.ts'
import type { Queries } from './protocol.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARACTERS = 40
const PREFIX_CHARACTERS = 18

/** A new secret of a key, and the parts of it that are stored. */
export interface KeySecret {
  /** `parley_live_` (production) or `parley_test_` and 40 of `[0-9A-Za-z]`: 238 bits. */
  readonly secret: string
  /** Its first 18 characters, shown in lists. */
  readonly prefix: string
  readonly hash: Buffer
}

export function newKeySecret(environment: string, random: Random): KeySecret {
  let secret = environment === 'production' ? 'parley_live_' : 'parley_test_'
  for (let i = 0; i < RANDOM_CHARACTERS; i++) secret += ALPHABET[randomBelow(random, ALPHABET.length)]
  return { secret, prefix: secret.slice(0, PREFIX_CHARACTERS), hash: keyHash(secret) }
}

/** SHA-256 of the secret: what {@link Database.keyOf} looks for. */
export function keyHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** A key without its hashes. */
const KEY_COLUMNS = [
  'key_id',
  'name',
  'role',
  'can_dial',
  'prefix',
  'created_at',
  'last_used_at',
  'expires_at',
  'revoked_at',
] as const

export interface KeyRow {
  readonly key_id: string
  readonly name: string
  readonly role: Role
  readonly can_dial: boolean
  readonly prefix: string
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

interface NewKey {
  readonly name: string
  readonly role: Role
  readonly can_dial: boolean
  /** ISO time; null: it does not expire. */
  readonly expires_at: string | null
}

const isActive = sql<boolean>`revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`

/** Creates a key. Null: the environment has the maximum number of active keys. */
export async function insertKey(tx: Queries, scope: Scope, key: NewKey, secret: KeySecret): Promise<KeyRow | null> {
  await takeTurn(tx, scope, 'keys')
  const { active } = await tx
    .selectFrom('api_keys')
    .select(sql<number>`count(*)::integer`.as('active'))
    .where('tenant_id', '=', scope.tenant_id)
    .where(isActive)
    .executeTakeFirstOrThrow()
  if (active >= ENVIRONMENT_LIMITS.keys) return null
  return tx
    .insertInto('api_keys')
    .values({ ...key, tenant_id: scope.tenant_id, prefix: secret.prefix, secret_hash: secret.hash })
    .returning(KEY_COLUMNS)
    .executeTakeFirstOrThrow()
}

/**
 * Whether the key is active and the presented secret is still one of its secrets. The answer holds until the transaction
 * ends: `revokeKey` and `replaceKeySecret` wait for it, and a transaction that asks after they began waits for them. Share
 * locks of the row would let a stream of requests overtake a waiting revocation for ever; advisory locks are granted in order.
 */
export async function lockPresentedKey(
  tx: Queries,
  scope: Scope,
  { key_id, secret_hash }: PresentedKey,
): Promise<boolean> {
  // Sent together. The second statement's snapshot is taken once the lock is held.
  const [, found] = await Promise.all([
    sharedKeyLock.execute(tx, { key_id }),
    presentedKey.first(tx, { tenant_id: scope.tenant_id, key_id, secret_hash }),
  ])
  return found !== undefined
}

const sharedKeyLock = new PreparedQuery(
  (_, { key_id }: { readonly key_id: string }) => sql`select pg_advisory_xact_lock_shared(${lockOfKey(key_id)})`,
)

const presentedKey = new PreparedQuery(
  (db, { tenant_id, key_id, secret_hash }: PresentedKey & { readonly tenant_id: string }) =>
    db
      .selectFrom('api_keys')
      .select('key_id')
      .where('tenant_id', '=', tenant_id)
      .where('key_id', '=', key_id)
      .where(isActive)
      .where(({ eb, and, or }) =>
        or([
          eb('secret_hash', '=', secret_hash),
          and([eb('previous_hash', '=', secret_hash), eb('previous_until', '>', sql<string>`clock_timestamp()`)]),
        ]),
      ),
)

function lockOfKey(keyId: string) {
  return sql`hashtextextended('key/' || ${keyId}::text, 0)`
}

/** Waits until no transaction relies on the key any more, and makes later ones wait until this one ends. */
async function awaitUsesOfKey(tx: Queries, keyId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockOfKey(keyId)})`.execute(tx)
}

/**
 * Gives the key a new secret. The previous one still works for `overlapSeconds`, the one before it no longer works.
 * Null: there is no such key, or it is revoked or expired.
 */
export async function replaceKeySecret(
  tx: Queries,
  scope: Scope,
  keyId: string,
  secret: KeySecret,
  overlapSeconds: number,
): Promise<KeyRow | null> {
  const overlaps = overlapSeconds > 0
  await awaitUsesOfKey(tx, keyId)
  const replaced = await tx
    .updateTable('api_keys')
    .set(({ ref }) => ({
      secret_hash: secret.hash,
      prefix: secret.prefix,
      previous_hash: overlaps ? ref('secret_hash') : null,
      previous_until: overlaps ? sql<string>`parley.now_ms() + ${overlapSeconds} * interval '1 second'` : null,
    }))
    .where('tenant_id', '=', scope.tenant_id)
    .where('key_id', '=', keyId)
    .where(isActive)
    .returning(KEY_COLUMNS)
    .executeTakeFirst()
  return replaced ?? null
}

/** Revokes the key; a key that is revoked already does not change. Null: there is no such key. */
export async function revokeKey(tx: Queries, scope: Scope, keyId: string): Promise<KeyRow | null> {
  await awaitUsesOfKey(tx, keyId)
  const revoked = await tx
    .updateTable('api_keys')
    .set({ revoked_at: sql<string>`coalesce(revoked_at, parley.now_ms())` })
    .where('tenant_id', '=', scope.tenant_id)
    .where('key_id', '=', keyId)
    .returning(KEY_COLUMNS)
    .executeTakeFirst()
  return revoked ?? null
}

const NEWEST_FIRST: readonly KeysetColumn<KeyRow>[] = [
  { column: 'created_at', type: 'instant', direction: 'desc' },
  { column: 'key_id', type: 'uuid', direction: 'asc' },
]

/** Lists keys, newest first, including revoked ones. Throws the refusal `invalid_cursor`. */
export function listKeys(db: Queries, scope: Scope, page: PageRequest): Promise<Page<KeyRow>> {
  const keys = db.selectFrom('api_keys').select(KEY_COLUMNS).where('tenant_id', '=', scope.tenant_id)
  const binding = { operation: 'keys.list', tenantId: scope.tenant_id, filters: {}, sort: 'created_desc' }
  return readPage(keys, NEWEST_FIRST, binding, page)
}

export async function keyExists(db: Queries, scope: Scope, keyId: string): Promise<boolean> {
  const found = await db
    .selectFrom('api_keys')
    .select('key_id')
    .where('tenant_id', '=', scope.tenant_id)
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return found !== undefined
}
