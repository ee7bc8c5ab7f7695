/**
 * What a read costs in CPU time through the whole pipeline, against a bare Fastify handler that looks up the key and the
 * row by two queries. Both serve from this process, are asked by another, and take turns, so that whatever else the
 * machine does falls on both. `node control-plane/src/testing/read-cost.ts [ROUNDS]` prints one JSON line.
 */
import { fork } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { type Operation, operations } from '@parley/contract'
import { migrate, openDatabase } from '@parley/store'
import { startTestServer } from '@parley/store/testing'
import fastify from 'fastify'
import pg from 'pg'
import { pino } from 'pino'
import { buildApiOf } from '../http/api.ts'
import { type Route, routeOf } from '../pipeline/route.ts'
import { SILENT_BUS } from './local-bus.ts'
import { testPlatform } from './test-platform.ts'

const REQUESTS = 600
const AT_ONCE = 16

interface Load {
  readonly url: string
  readonly key: string
}

/** Asks `REQUESTS` times, `AT_ONCE` at a time; answers how long each took, in ms. */
async function ask({ url, key }: Load): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const headers = { authorization: `Bearer ${key}` }
  const took: number[] = []
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const begun = performance.now()
      request(url, { agent, headers }, response => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
        response.resume().on('end', () => {
          took.push(performance.now() - begun)
          resolve()
        })
      })
        .on('error', reject)
        .end()
    })
  const worker = async () => {
    while (took.length < REQUESTS) await one()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  agent.destroy()
  return took
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

async function serve(rounds: number): Promise<void> {
  const server = await startTestServer()
  await migrate(server.templateUrl)
  const database = await openDatabase({ ownerUrl: server.templateUrl, maxConnections: 10 })
  const pool = new pg.Pool({ connectionString: server.templateUrl, max: 10 })
  const secret = `parley_live_${randomBytes(20).toString('hex')}`
  const hash = createHash('sha256').update(secret).digest()
  const { rows } = await pool.query(`with o as (insert into parley.organisations (name) values ('x') returning owner_id)
    insert into parley.tenants (owner_id, environment, name) select owner_id, 'production', 'x' from o returning tenant_id`)
  const tenant = rows[0].tenant_id
  await pool.query(
    "insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash) values ($1, 'x', 'admin', 'parley_live_', $2)",
    [tenant, hash],
  )

  const all: readonly Operation[] = operations
  const operation = all.find(({ id }) => id === 'tenant_settings.get')!
  const settings = (row: Record<string, unknown>) => {
    const { name, display_name, retention_version: version, ...days } = row
    return { name, display_name, retention: { ...days, source: 'platform_default', version } }
  }
  const columns = [
    'name',
    'display_name',
    'recording_days',
    'transcript_days',
    'document_days',
    'retention_version',
  ] as const
  const read: Route['handler'] = async (_, { db, scope }) => {
    const row = await db
      .selectFrom('tenants')
      .select(columns)
      .where('tenant_id', '=', scope.tenant_id)
      .executeTakeFirstOrThrow()
    return { status: 200, body: settings(row) as never }
  }
  const much = { perSecond: 1e9, burst: 1e9 }
  const api = await buildApiOf([routeOf(operation, read)], {
    ...{ database, bus: SILENT_BUS, platform: testPlatform() },
    log: pino({ level: 'info' }, pino.destination({ dest: '/dev/null', sync: false })),
    limits: { rates: { key: much, costly: much, address: much } },
  })
  const bare = fastify()
  bare.get(operation.path, async request => {
    const sent = createHash('sha256')
      .update((request.headers.authorization ?? '').slice(7))
      .digest()
    const key = await pool.query({ name: 'key', text: 'select * from parley.key_of($1)', values: [sent] })
    const row = await pool.query({
      name: 'row',
      text: `select ${columns.join(', ')} from parley.tenants where tenant_id = $1`,
      values: [key.rows[0].tenant_id],
    })
    return settings(row.rows[0])
  })
  const at = { host: '127.0.0.1', port: 0 }
  const targets = { bare: await bare.listen(at), whole: await api.listen(at) }

  const asker = fork(import.meta.filename, ['ask'])
  const round = async (base: string) => {
    const before = process.cpuUsage()
    const took = await new Promise<number[]>(resolve => {
      asker.once('message', resolve as (took: unknown) => void)
      asker.send({ url: base + operation.path, key: secret } satisfies Load)
    })
    const { user, system } = process.cpuUsage(before)
    return { cpu: (user + system) / took.length, took }
  }
  const measured = { bare: [] as Awaited<ReturnType<typeof round>>[], whole: [] as Awaited<ReturnType<typeof round>>[] }
  for (let count = -1; count < rounds; count++)
    for (const name of ['bare', 'whole'] as const) {
      const result = await round(targets[name])
      // The first rounds warm up.
      if (count >= 0) measured[name].push(result)
    }
  asker.disconnect()
  const figures = (name: 'bare' | 'whole') => {
    const took = measured[name].flatMap(one => one.took)
    return {
      cpu_us: Math.round(
        percentile(
          measured[name].map(({ cpu }) => cpu),
          0.5,
        ),
      ),
      p50_ms: Number(percentile(took, 0.5).toFixed(2)),
      p99_ms: Number(percentile(took, 0.99).toFixed(2)),
    }
  }
  const [one, other] = [figures('bare'), figures('whole')]
  const ratio = Number((other.cpu_us / one.cpu_us).toFixed(2))
  const p50Ratio = Number((other.p50_ms / one.p50_ms).toFixed(2))
  console.log(JSON.stringify({ bare: one, whole: other, cpu_ratio: ratio, p50_ratio: p50Ratio }))
  await bare.close()
  await api.close()
  await pool.end()
  await database.close()
  await server.stop()
}

if (process.argv[2] === 'ask') process.on('message', load => void ask(load as Load).then(took => process.send?.(took)))
else await serve(Number(process.argv[2] ?? 8))
