import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Client, DatabaseError } from 'pg'
import { StoreError } from '../errors.ts'
import { checkedVersion, ensureFunctions, sqlFor } from './older-servers.ts'
import { asOwner, readAddress } from './owner-connection.ts'
import { ensureGroups, ensureLogins } from './roles.ts'
import { ensureVectorTable } from './vector-extension.ts'

/** Key of the advisory lock under which one process migrates: 'parley' in ASCII. */
const LOCK = 0x7061726c6579n
const DIRECTORY = fileURLToPath(new URL('../migrations/', import.meta.url))

/** One forward step of the schema. */
export interface Migration {
  /** `0001-spine`; they run in the order of their names. */
  readonly name: string
  readonly sql: string
}

/**
 * Brings the database of `ownerUrl` to this version: roles, then every migration that was not applied, each in a
 * transaction of its own, one process at a time; then the table of vectors, where the database has pgvector. Returns the names of those applied now.
 * Throws `database_unavailable`, `database_misconfigured`, `migration_changed`, `database_newer`, `migration_failed`.
 */
export async function migrate(ownerUrl: string, migrations?: readonly Migration[]): Promise<string[]> {
  const steps = migrations ?? (await readMigrations())
  const address = readAddress(ownerUrl)
  return asOwner(address, async client => {
    const version = await checkedVersion(client)
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await ensureGroups(client)
    await client.query(`
      create schema if not exists parley;
      create table if not exists parley.migrations (
        name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
    await ensureFunctions(client, version)
    // Before the migrations, which may take rights away that running processes then have by these memberships.
    await ensureLogins(client, address)
    const applied = await applyMigrations(client, steps, version)
    if (migrations === undefined) await ensureVectorTable(client)
    return applied
  })
}

async function applyMigrations(client: Client, steps: readonly Migration[], version: number): Promise<string[]> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from parley.migrations',
  )
  const known = new Map(rows.map(row => [row.name, row.checksum]))
  for (const step of steps) {
    const checksum = known.get(step.name)
    if (checksum !== undefined && checksum !== checksumOf(step))
      throw new StoreError(
        'migration_changed',
        `migration ${step.name} has changed since it was applied to this database: add a new migration instead of changing one`,
      )
    known.delete(step.name)
  }
  if (known.size > 0)
    throw new StoreError(
      'database_newer',
      `the database was migrated by a newer Parley (${[...known.keys()].join(', ')}): run that version`,
    )
  const waiting = steps.filter(step => !rows.some(row => row.name === step.name))
  for (const step of waiting) await apply(client, step, version)
  return waiting.map(step => step.name)
}

async function apply(client: Client, step: Migration, version: number): Promise<void> {
  try {
    await client.query('begin')
    // A role needs CREATE on a schema to become the owner of a function in it; the right ends with the migration.
    await client.query('grant create on schema parley to parley_system')
    await client.query(sqlFor(step, version))
    await client.query('revoke create on schema parley from parley_system')
    await client.query('insert into parley.migrations (name, checksum) values ($1, $2)', [step.name, checksumOf(step)])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback').catch(() => {})
    const where = cause instanceof DatabaseError && cause.position ? ` ${lineAt(step.sql, Number(cause.position))}` : ''
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreError('migration_failed', `migration ${step.name}${where}: ${reason}`, { cause })
  }
}

async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(DIRECTORY)).filter(file => /^\d{4}-[a-z0-9-]+\.sql$/.test(file)).sort()
  return Promise.all(
    files.map(async file => ({ name: file.slice(0, -4), sql: await readFile(`${DIRECTORY}${file}`, 'utf8') })),
  )
}

function checksumOf(step: Migration): string {
  return createHash('sha256').update(step.sql).digest('hex')
}

function lineAt(sql: string, position: number): string {
  return `(line ${sql.slice(0, position).split('\n').length})`
}
