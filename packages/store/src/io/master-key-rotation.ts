import type { Client } from 'pg'
import { alertDestinationSealContext } from '../alerts/destinations.ts'
import { alertUrlSealContext } from '../alerts/rules.ts'
import { StoreError } from '../errors.ts'
import { answerSealContext } from '../idempotency.ts'
import { providerKeySealContext } from '../provider-keys.ts'
import { signingKeySealContext } from '../release/signing-keys.ts'
import { inputsSealContext } from '../runs/inputs.ts'
import { secretSealContext } from '../secrets.ts'
import { asOwner, readAddress } from './owner-connection.ts'
import { keyVersionOf, type MasterKeySealer } from './sealer.ts'

const CHECK_CONTEXT = 'master-key-check'
const CHECK_PLAIN = Buffer.from('Parley opens what it sealed.')
const BATCH = 200

/**
 * Checks that the master key belongs to this database: stores a check value on first use, and opens every stored check value.
 * Throws `master_key_wrong`.
 */
export async function checkMasterKey(ownerUrl: string, sealer: MasterKeySealer): Promise<void> {
  await asSystem(ownerUrl, client =>
    inTransaction(client, async () => {
      // Rolled back with the rest when an older value cannot be opened.
      await client.query(
        'insert into parley.master_key_checks (version, sealed) values ($1, $2) on conflict (version) do nothing',
        [sealer.currentVersion, sealer.seal(CHECK_PLAIN, CHECK_CONTEXT)],
      )
      const { rows } = await client.query<{ version: number; sealed: Buffer }>(
        'select version, sealed from parley.master_key_checks order by version',
      )
      for (const { version, sealed } of rows) assertOpens(sealer, version, sealed)
    }),
  )
}

function assertOpens(sealer: MasterKeySealer, version: number, sealed: Buffer): void {
  try {
    if (!sealer.open(sealed, CHECK_CONTEXT).equals(CHECK_PLAIN)) throw new Error('another text')
  } catch (cause) {
    throw new StoreError(
      'master_key_wrong',
      sealer.versions.includes(version)
        ? `version ${version} of the master key is not the one that this database was sealed under: restore it (PARLEY_MASTER_KEY or master.key)`
        : `the database holds values sealed under version ${version} of the master key, which is missing: give all versions until the rotation is complete`,
      { cause },
    )
  }
}

/**
 * Seals all values again that are not sealed under the highest version, in batches of 200, each committed. It can be killed and run
 * again, and can run while the application runs if every process already has the new key. Returns the number of values that it
 * sealed. Afterwards the older versions are no longer needed. Throws `master_key_wrong`, `seal_broken`.
 */
export async function rotateMasterKey(ownerUrl: string, sealer: MasterKeySealer): Promise<number> {
  await checkMasterKey(ownerUrl, sealer)
  return asSystem(ownerUrl, async client => {
    let resealed = 0
    for (const column of SEALED) {
      for (let count = BATCH; count === BATCH; resealed += count) count = await resealBatch(client, column, sealer)
    }
    await client.query('delete from parley.master_key_checks where version < $1', [sealer.currentVersion])
    return resealed
  })
}

/** A column whose values are sealed. */
interface SealedColumn {
  /** Rows with `ctid`, `sealed` and what the context is made of, sealed under another version than $1, $2 at most, locked. */
  readonly select: string
  readonly update: string
  readonly contextOf: (row: SealedRow) => string
}

interface SealedRow {
  readonly ctid: string
  readonly sealed: Buffer
  readonly [column: string]: unknown
}

const isOld = (column: string) => `get_byte(${column}, 1) * 256 + get_byte(${column}, 2) <> $1::integer`

const scopeOf = (row: SealedRow) => ({
  owner_id: String(row.owner_id),
  environment: String(row.environment),
  tenant_id: String(row.tenant_id),
})

const SEALED: readonly SealedColumn[] = [
  {
    select: `select s.ctid, s.sealed, s.secret_id, s.version, t.tenant_id, t.owner_id, t.environment
      from parley.secret_versions s join parley.tenants t using (tenant_id) where ${isOld('s.sealed')}
      limit $2 for update of s`,
    update: 'update parley.secret_versions set sealed = $2 where ctid = $1',
    contextOf: row => secretSealContext(scopeOf(row), String(row.secret_id), Number(row.version)),
  },
  {
    select: `select k.ctid, k.sealed, k.provider, t.tenant_id, t.owner_id, t.environment
      from parley.provider_keys k join parley.tenants t using (tenant_id) where ${isOld('k.sealed')}
      limit $2 for update of k`,
    update: 'update parley.provider_keys set sealed = $2 where ctid = $1',
    contextOf: row => providerKeySealContext(scopeOf(row), String(row.provider)),
  },
  {
    select: `select i.ctid, i.answer as sealed, i.principal, i.operation, i.key, t.tenant_id, t.owner_id, t.environment
      from parley.idempotency i join parley.tenants t using (tenant_id) where ${isOld('i.answer')}
      limit $2 for update of i`,
    update: 'update parley.idempotency set answer = $2 where ctid = $1',
    contextOf: row =>
      answerSealContext(scopeOf(row), {
        principal: String(row.principal),
        operation: String(row.operation),
        key: String(row.key),
      }),
  },
  {
    select: `select d.ctid, d.sealed, d.kind, d.tenant_id from parley.alert_destinations d where ${isOld('d.sealed')}
      limit $2 for update of d`,
    update: 'update parley.alert_destinations set sealed = $2 where ctid = $1',
    contextOf: row => alertDestinationSealContext(scopeOf(row), String(row.kind)),
  },
  {
    select: `select r.ctid, r.destination_sealed as sealed, r.alert_id, r.tenant_id from parley.alert_rules r
      where ${isOld('r.destination_sealed')} limit $2 for update of r`,
    update: 'update parley.alert_rules set destination_sealed = $2 where ctid = $1',
    contextOf: row => alertUrlSealContext(scopeOf(row), String(row.alert_id)),
  },
  {
    select: `select k.ctid, k.sealed, k.version from parley.signing_keys k where ${isOld('k.sealed')}
      limit $2 for update of k`,
    update: 'update parley.signing_keys set sealed = $2 where ctid = $1',
    contextOf: row => signingKeySealContext(Number(row.version)),
  },
  {
    select: `select i.ctid, i.sealed, i.run_id, i.tenant_id from parley.run_inputs i where ${isOld('i.sealed')}
      limit $2 for update of i`,
    update: 'update parley.run_inputs set sealed = $2 where ctid = $1',
    contextOf: row => inputsSealContext(scopeOf(row), String(row.run_id)),
  },
]

function resealBatch(client: Client, column: SealedColumn, sealer: MasterKeySealer): Promise<number> {
  return inTransaction(client, async () => {
    const { rows } = await client.query<SealedRow>(column.select, [sealer.currentVersion, BATCH])
    for (const row of rows) {
      if (keyVersionOf(row.sealed) === sealer.currentVersion) throw new TypeError('the query chose a value sealed anew')
      const context = column.contextOf(row)
      await client.query(column.update, [row.ctid, sealer.seal(sealer.open(row.sealed, context), context)])
    }
    return rows.length
  })
}

async function inTransaction<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Reads across tenants in the role parley_system, because row security applies to the owner too. */
function asSystem<Result>(ownerUrl: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  return asOwner(readAddress(ownerUrl), async client => {
    await client.query('set role parley_system')
    return work(client)
  })
}
