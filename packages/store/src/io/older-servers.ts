import { type Client, escapeIdentifier } from 'pg'
import { StoreError } from '../errors.ts'

/** Older versions lack `SET FALSE` and `INHERIT FALSE` of role membership. */
const OLDEST = 160_000
/** From here on a server has pg_c_utf8, a collation that is the same on every machine. */
const HAS_C_UTF8 = 170_000
/** From here on a server has uuidv7() and `old` in RETURNING. */
const NEWEST_NEEDED = 180_000
/** Collations whose lower() knows all letters, best first. */
const UNICODE_COLLATIONS = ['und-x-icu', 'C.utf8', 'C.UTF-8', 'en_US.utf8']

/** What a server before 18 does not understand in a migration, and what says the same to it. */
interface Substitution {
  readonly migration: string
  readonly from: string
  readonly to: string
  /** The first version that needs no substitution. */
  readonly until: number
}

export const SUBSTITUTIONS: readonly Substitution[] = [
  {
    migration: '0001-spine',
    from: 'lower(name collate "pg_c_utf8")',
    to: 'parley.lowered(name)',
    until: HAS_C_UTF8,
  },
  // The row is locked before it is read: these are the values before the update.
  {
    migration: '0002-runs',
    from: 'select o.run_id from parley.run_ownership o\n    where o.engine is not null',
    to: 'select o.run_id, o.engine as lost_engine, o.worker as lost_worker from parley.run_ownership o\n    where o.engine is not null',
    until: NEWEST_NEEDED,
  },
  {
    migration: '0002-runs',
    from: 'old.engine as lost_engine, old.worker as lost_worker',
    to: 'dead.lost_engine, dead.lost_worker',
    until: NEWEST_NEEDED,
  },
  {
    migration: '0017-people',
    from: 'lower(email collate "pg_c_utf8")',
    to: 'parley.lowered(email)',
    until: HAS_C_UTF8,
  },
  {
    migration: '0017-people',
    from: 'lower(address collate "pg_c_utf8")',
    to: 'parley.lowered(address)',
    until: HAS_C_UTF8,
  },
]

/** The server's version, 180000 for 18.0. Throws `database_misconfigured` when it is too old. */
export async function checkedVersion(client: Client): Promise<number> {
  const { rows } = await client.query<{ number: string; text: string }>(
    "select current_setting('server_version_num') as number, current_setting('server_version') as text",
  )
  const version = Number(rows[0]?.number)
  if (version < OLDEST)
    throw new StoreError('database_misconfigured', `Postgres ${rows[0]?.text} is too old: Parley needs 16 or newer`)
  return version
}

/** The migration's statements in the words of a server of this version. */
export function sqlFor({ name, sql }: { readonly name: string; readonly sql: string }, version: number): string {
  if (version >= NEWEST_NEEDED) return sql
  const needed = SUBSTITUTIONS.filter(({ migration, until }) => migration === name && version < until)
  const understood = needed.reduce((text, { from, to }) => text.replaceAll(from, () => to), sql)
  return understood.replaceAll(/(?<![.\w])uuidv7\(\)/g, 'parley.uuidv7()')
}

/**
 * Functions that every server has in the schema `parley`, by its own means where it has them:
 * `uuidv7()`, whose values begin with the time (RFC 9562 section 5.7; the microseconds follow in 12 bits, section 6.2 method 3), and
 * `lowered(text)`, lower case of any letter.
 */
export async function ensureFunctions(client: Client, version: number): Promise<void> {
  if (!(await exists(client, 'parley.uuidv7()'))) await client.query(version >= NEWEST_NEEDED ? ITS_UUIDV7 : OUR_UUIDV7)
  if (await exists(client, 'parley.lowered(text)')) return
  const collation = version >= HAS_C_UTF8 ? 'pg_c_utf8' : await unicodeCollation(client)
  await client.query(
    `create function parley.lowered(text) returns text language sql immutable strict parallel safe
     as 'select pg_catalog.lower($1 collate pg_catalog.${escapeIdentifier(collation)})'`,
  )
}

const ITS_UUIDV7 = `
  create function parley.uuidv7() returns uuid language sql volatile as 'select pg_catalog.uuidv7()'`

const OUR_UUIDV7 = `
  create function parley.uuidv7() returns uuid language plpgsql volatile set search_path = pg_catalog as $$
  declare
    us bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
    time_and_version bytea := int8send(((us / 1000) << 16) | 28672 | ((us % 1000) * 4096 / 1000));
  begin
    return encode(overlay(uuid_send(gen_random_uuid()) placing time_and_version from 1 for 8), 'hex')::uuid;
  end $$`

async function exists(client: Client, signature: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('select to_regprocedure($1) is not null as found', [
    signature,
  ])
  return rows[0]?.found === true
}

async function unicodeCollation(client: Client): Promise<string> {
  const { rows } = await client.query<{ collname: string }>(
    `select collname from pg_collation where collname = any($1)
     and collencoding in (-1, (select encoding from pg_database where datname = current_database()))`,
    [UNICODE_COLLATIONS],
  )
  const found = UNICODE_COLLATIONS.find(name => rows.some(row => row.collname === name))
  if (found !== undefined) return found
  throw new StoreError(
    'database_misconfigured',
    `the server has none of the collations ${UNICODE_COLLATIONS.join(', ')}: create one, or use Postgres 17 or newer`,
  )
}
