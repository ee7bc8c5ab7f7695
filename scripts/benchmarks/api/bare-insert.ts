import { randomBytes, randomUUID } from 'node:crypto'
import type pg from 'pg'

/** Tables in which an admission creates one row each, with the condition that finds the row of the run `$1`. */
const TABLES = [
  ['runs', 'run_id = $1'],
  ['run_events', 'run_id = $1 and seq = 1'],
  ['run_ownership', 'run_id = $1'],
  ['audit', "resource_kind = 'run' and resource_id = $1::text"],
  [
    'idempotency',
    "operation = 'runs.create' and tenant_id = (select tenant_id from parley.runs where run_id = $1) limit 1",
  ],
] as const

/** What differs between two admissions; everything else is copied. */
const NEW_VALUES: Readonly<Record<string, (runId: string) => unknown>> = {
  run_id: runId => runId,
  audit_id: () => randomUUID(),
  resource_id: runId => runId,
  request_id: () => randomUUID(),
  created_at: () => new Date().toISOString(),
  admitted_at: () => new Date().toISOString(),
  occurred_at: () => new Date().toISOString(),
  at: () => new Date().toISOString(),
  key: () => randomUUID(),
  request_hash: () => randomBytes(32),
}

interface Insert {
  readonly name: string
  readonly text: string
  values(runId: string): unknown[]
}

/** Inserts of the rows that the last admission of the tenant created. */
export async function insertsOfAdmission(pool: pg.Pool, tenant: string): Promise<readonly Insert[]> {
  const { rows } = await pool.query(
    'select run_id from parley.runs where tenant_id = $1 order by created_at desc limit 1',
    [tenant],
  )
  return Promise.all(TABLES.map(([table, condition]) => insertLike(pool, table, condition, rows[0].run_id)))
}

async function insertLike(pool: pg.Pool, table: string, condition: string, runId: string): Promise<Insert> {
  const { rows: columns } = await pool.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = ('parley.' || $1)::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = ''`,
    [table],
  )
  const list = columns.map(({ name }) => name)
  const { rows } = await pool.query(
    `select ${list.map(name => `${name}::text`).join(', ')} from parley.${table} where ${condition}`,
    [runId],
  )
  const [template] = rows
  if (template === undefined) throw new Error(`the admission left no row in ${table}`)
  const parameters = columns.map(({ type }, index) => `$${index + 1}::${type}`)
  return {
    name: table,
    text: `insert into parley.${table} (${list.join(', ')}) values (${parameters.join(', ')})`,
    values: id => list.map(name => NEW_VALUES[name]?.(id) ?? template[name]),
  }
}
