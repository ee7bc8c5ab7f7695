import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { type KeysetColumn, type Page, type PageRequest, readPage } from './keyset.ts'
import { PreparedQuery } from './prepared-query.ts'
import type { Queries, Sealer } from './protocol.ts'
import type { OwnKeyProvider } from './schema.ts'
import { statementTime } from './statements.ts'

/** The key of a provider that an environment uses, without the key. */
export interface ProviderKeyRow {
  readonly provider: OwnKeyProvider
  readonly last4: string
  readonly endpoint: string | null
  readonly checked_at: string
  readonly created_at: string
  readonly updated_at: string
}

/** The key itself, with what a service is opened with. */
export interface ProviderKey {
  readonly provider: OwnKeyProvider
  readonly key: string
  /** Null: the provider's own. */
  readonly endpoint: string | null
  /** Language models that the service named when it was checked. */
  readonly models: readonly string[]
}

const COLUMNS = ['provider', 'last4', 'endpoint', 'checked_at', 'created_at', 'updated_at'] as const
/** A key with fewer characters shows none of them. */
const SHORTEST_SHOWN = 8

/** The context under which a provider's key is sealed: it cannot be opened under another. */
export function providerKeySealContext(scope: Scope, provider: string): string {
  return JSON.stringify(['provider_keys', scope.tenant_id, provider])
}

const BY_PROVIDER: readonly KeysetColumn<ProviderKeyRow>[] = [{ column: 'provider', type: 'text', direction: 'asc' }]

/** Lists the keys by provider, ascending. Throws the refusal `invalid_cursor`. */
export function listProviderKeys(db: Queries, scope: Scope, page: PageRequest): Promise<Page<ProviderKeyRow>> {
  const keys = db.selectFrom('provider_keys').select(COLUMNS).where('tenant_id', '=', scope.tenant_id)
  const binding = { operation: 'provider_keys.list', tenantId: scope.tenant_id, filters: {}, sort: 'provider' }
  return readPage(keys, BY_PROVIDER, binding, page)
}

/** Stores or replaces the key of a provider, which the provider has just accepted. */
export async function putProviderKey(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  { provider, key, endpoint, models }: ProviderKey,
): Promise<ProviderKeyRow> {
  const values = {
    sealed: sealer.seal(Buffer.from(key), providerKeySealContext(scope, provider)),
    last4: key.length < SHORTEST_SHOWN ? '' : key.slice(-4),
    endpoint,
    models: [...models],
    checked_at: statementTime,
    updated_at: statementTime,
  }
  return tx
    .insertInto('provider_keys')
    .values({ tenant_id: scope.tenant_id, provider, ...values, created_at: statementTime })
    .onConflict(conflict => conflict.columns(['tenant_id', 'provider']).doUpdateSet(values))
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Deletes the key and returns its last state. Null: there is none. */
export async function deleteProviderKey(
  tx: Queries,
  scope: Scope,
  provider: OwnKeyProvider,
): Promise<ProviderKeyRow | null> {
  const deleted = await tx
    .deleteFrom('provider_keys')
    .where('tenant_id', '=', scope.tenant_id)
    .where('provider', '=', provider)
    .returning(COLUMNS)
    .executeTakeFirst()
  return deleted ?? null
}

/** The environment's own keys, decrypted, and a digest that changes with each of them. */
interface OwnKeys {
  readonly keys: readonly ProviderKey[]
  /** Empty: there are no keys. */
  readonly digest: string
}

const sealedKeys = new PreparedQuery((db, { tenant_id }: { readonly tenant_id: string }) =>
  db
    .selectFrom('provider_keys')
    .select(['provider', 'sealed', 'endpoint', 'models', sql<string>`encode(sha256(sealed), 'hex')`.as('digest')])
    .where('tenant_id', '=', tenant_id)
    .orderBy('provider'),
)

/** Reads the environment's own keys. Throws `seal_broken`. */
export async function readProviderKeys(db: Queries, scope: Scope, sealer: Sealer): Promise<OwnKeys> {
  const rows = await sealedKeys.rows(db, { tenant_id: scope.tenant_id })
  const keys = rows.map(({ provider, sealed, endpoint, models }) => ({
    provider,
    key: sealer.open(sealed, providerKeySealContext(scope, provider)).toString('utf8'),
    endpoint,
    models,
  }))
  return { keys, digest: rows.map(({ digest }) => digest).join(' ') }
}
