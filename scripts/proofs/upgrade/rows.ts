import { Client, escapeIdentifier, escapeLiteral } from 'pg'

const SCHEMA = 'parley'

/**
 * All rows of Parley's tables as SQL, one INSERT per line, by table name and without generated columns, followed by the positions
 * of the sequences. It needs no Postgres tools.
 */
export async function dumpRows(url: string): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ table_name: string; columns: string[] }>(
      `select c.table_name, array_agg(c.column_name::text order by c.ordinal_position) as columns
       from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
       where c.table_schema = $1 and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
       group by c.table_name order by c.table_name`,
      [SCHEMA],
    )
    const lines: string[] = []
    for (const { table_name, columns } of tables) lines.push(...(await insertsOf(client, table_name, columns)))
    lines.push(...(await sequencesOf(client)))
    return `${lines.join('\n')}\n`
  } finally {
    await client.end()
  }
}

async function insertsOf(client: Client, name: string, columns: readonly string[]): Promise<string[]> {
  const table = `${SCHEMA}.${escapeIdentifier(name)}`
  const names = columns.map(escapeIdentifier)
  const { rows } = await client.query<(string | null)[]>({
    text: `select ${names.map(column => `${column}::text`).join(', ')} from ${table} order by 1`,
    rowMode: 'array',
  })
  return rows.map(row => {
    const values = row.map(value => (value === null ? 'null' : escapeLiteral(value)))
    return `insert into ${table} (${names.join(', ')}) overriding system value values (${values.join(', ')});`
  })
}

async function sequencesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as last
     from pg_sequences where schemaname = $1 and last_value is not null order by 1`,
    [SCHEMA],
  )
  return rows.map(({ name, last }) => `select setval(${escapeLiteral(name)}, ${last});`)
}

/**
 * Replaces all rows of a database that has the same tables. `url` must be of a superuser, because foreign keys and triggers
 * are disabled during the restore.
 */
export async function restoreRows(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('set local session_replication_role = replica')
    const { rows } = await client.query<{ name: string }>(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1",
      [SCHEMA],
    )
    await client.query(`truncate ${rows.map(({ name }) => name).join(', ')}`)
    await client.query(sql)
    await client.query('commit')
  } finally {
    await client.end()
  }
}
