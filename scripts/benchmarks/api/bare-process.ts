// The baseline: Fastify and pg, a lookup of the key and of the row, without tenancy, roles, validation, idempotency, audit or log.
import { createHash, randomUUID } from 'node:crypto'
import fastify, { type FastifyRequest } from 'fastify'
import pg from 'pg'
import { insertsOfAdmission } from './bare-insert.ts'
import { BARE_PREFIX, type ServerOptions, type ServerReady } from './messages.ts'

const { ownerUrl } = JSON.parse(process.argv[2]!) as ServerOptions
const pool = new pg.Pool({ connectionString: ownerUrl, max: 10 })
const app = fastify()

const AGENT = `
  select a.agent_id, a.name, a.created_at, a.updated_at, a.head_version, p.digest, p.channels, p.languages,
    p.published_at, d.draft_id, d.revision, d.base_version, d.published_revision,
    r.run_id, r.created_at as run_created_at, r.state, r.disposition
  from picked a
  left join parley.publications p on p.tenant_id = $1 and p.agent_id = a.agent_id and p.version = a.head_version
  left join parley.drafts d on d.tenant_id = $1 and d.agent_id = a.agent_id
  left join lateral (select * from parley.runs r where r.tenant_id = $1 and r.agent_id = a.agent_id and not r.test
    order by r.created_at desc, r.run_id limit 1) r on true`

async function tenantOf(request: FastifyRequest): Promise<string> {
  const secret = (request.headers.authorization ?? '').slice('Bearer '.length)
  const hash = createHash('sha256').update(secret).digest()
  const { rows } = await pool.query({
    name: 'key',
    text: 'select tenant_id from parley.api_keys where secret_hash = $1 and revoked_at is null',
    values: [hash],
  })
  return rows[0].tenant_id
}

app.get(`${BARE_PREFIX}/api/v1/agents/:id`, async request => {
  const tenant = await tenantOf(request)
  const { rows } = await pool.query({
    name: 'read',
    text: `with picked as (select * from parley.agents where tenant_id = $1 and agent_id = $2) ${AGENT}`,
    values: [tenant, (request.params as { id: string }).id],
  })
  return rows[0]
})

app.get(`${BARE_PREFIX}/api/v1/agents`, async request => {
  const tenant = await tenantOf(request)
  const { rows } = await pool.query({
    name: 'list',
    text: `with picked as (select * from parley.agents where tenant_id = $1 and archived_at is null
      order by updated_at desc, agent_id limit 51) ${AGENT} order by a.updated_at desc, a.agent_id`,
    values: [tenant],
  })
  return { agents: rows.slice(0, 50) }
})

let inserts: ReturnType<typeof insertsOfAdmission> | null = null

app.post(`${BARE_PREFIX}/api/v1/runs`, async (request, reply) => {
  const tenant = await tenantOf(request)
  inserts ??= insertsOfAdmission(pool, tenant)
  const rows = await inserts
  const runId = randomUUID()
  const client = await pool.connect()
  try {
    await client.query('begin')
    for (const { name, text, values } of rows) await client.query({ name, text, values: values(runId) })
    await client.query('commit')
  } finally {
    client.release()
  }
  return reply.code(201).send({ run_id: runId })
})

process.once('disconnect', () => process.exit(0))
process.send!({ url: await app.listen({ host: '127.0.0.1', port: 0 }) } satisfies ServerReady)
