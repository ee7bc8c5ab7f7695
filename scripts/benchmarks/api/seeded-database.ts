import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { migrate, startEmbeddedPostgres } from '@parley/store'
import pg from 'pg'

interface SeededDatabase {
  readonly ownerUrl: string
  readonly home: string
  /** Admin keys of the two environments. */
  readonly keys: { readonly few: string; readonly many: string }
  close(): Promise<void>
}

/** A durable embedded database with two environments, of `few` and `many` agents. */
export async function seededDatabase(few: number, many: number): Promise<SeededDatabase> {
  const home = await mkdtemp(join(tmpdir(), 'parley-bench-'))
  const server = await startEmbeddedPostgres({ home })
  await migrate(server.ownerUrl)
  const pool = new pg.Pool({ connectionString: server.ownerUrl, max: 1 })
  const { rows } = await pool.query('show data_directory')
  try {
    const keys = { few: await environment(pool, few), many: await environment(pool, many) }
    await pool.query('vacuum analyze')
    return {
      ownerUrl: server.ownerUrl,
      home,
      keys,
      async close() {
        await server.stop()
        await rm(dirname(rows[0].data_directory), { recursive: true, force: true })
        await rm(home, { recursive: true, force: true })
      },
    }
  } finally {
    await pool.end()
  }
}

async function environment(pool: pg.Pool, agents: number): Promise<string> {
  const secret = `parley_live_${randomBytes(20).toString('hex')}`
  const { rows } = await pool.query(
    `with o as (insert into parley.organisations (name) values ('bench') returning owner_id)
     insert into parley.tenants (owner_id, environment, name) select owner_id, 'production', 'bench' from o
     returning tenant_id`,
  )
  const { tenant_id } = rows[0]
  await pool.query(
    `insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash) values ($1, 'bench', 'admin', $2, $3)`,
    [tenant_id, secret.slice(0, 18), createHash('sha256').update(secret).digest()],
  )
  // The agents have different creation times, 20 s apart.
  await pool.query(
    `insert into parley.agents (tenant_id, agent_id, name, created_at, updated_at)
     select $1, 'agent-' || n, 'Agent ' || n, at, at
     from generate_series(1, $2::int) n, lateral (select timestamptz '2026-01-01' + n * interval '20 s' as at) t`,
    [tenant_id, agents],
  )
  return secret
}
