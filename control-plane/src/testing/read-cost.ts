/**
 * What a read costs in CPU time through the whole pipeline, against a bare Fastify handler that looks up the key and the
 * row by two queries. Both serve from this process, are asked by another, and take turns, so that whatever else the
 * machine does falls on both. `node control-plane/src/testing/read-cost.ts [ROUNDS]` prints one JSON line.
 */
import { fork } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { type AnswerOf, type Operation, operations } from '@parley/contract'
import { type Database, openDatabase } from '@parley/store'
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

const OPERATION: Operation = operations.find(({ id }) => id === 'tenant_settings.get')!
const COLUMNS = [
  ...(['name', 'display_name', 'recording_days', 'transcript_days'] as const),
  ...(['document_days', 'retention_version'] as const),
]
const AT = { host: '127.0.0.1', port: 0 }

function settings(row: Readonly<Record<string, unknown>>): AnswerOf<Operation>['body'] {
  const { name, display_name, retention_version: version, ...days } = row
  return { name, display_name, retention: { ...days, source: 'platform_default', version } } as never
}

/** The API with one operation, on the application's role and pool. */
async function wholeApi(database: Database): Promise<{ url: string; close(): Promise<void> }> {
  const read: Route['handler'] = async (_, { db, scope }) => {
    const found = db.selectFrom('tenants').select(COLUMNS).where('tenant_id', '=', scope.tenant_id)
    return { status: 200, body: settings(await found.executeTakeFirstOrThrow()) }
  }
  const much = { perSecond: 1e9, burst: 1e9 }
  const api = await buildApiOf([routeOf(OPERATION, read)], {
    ...{ database, bus: SILENT_BUS, platform: testPlatform() },
    log: pino({ level: 'info' }, pino.destination({ dest: '/dev/null', sync: false })),
    limits: { rates: { key: much, costly: much, address: much } },
  })
  return { url: await api.listen(AT), close: () => api.close() }
}

/** Key and row by two prepared queries, and nothing else. */
async function bareApi(pool: pg.Pool): Promise<{ url: string; close(): Promise<void> }> {
  const bare = fastify()
  bare.get(OPERATION.path, async request => {
    const sent = createHash('sha256')
      .update((request.headers.authorization ?? '').slice(7))
      .digest()
    const key = await pool.query({ name: 'key', text: 'select * from parley.key_of($1)', values: [sent] })
    const text = `select ${COLUMNS.join(', ')} from parley.tenants where tenant_id = $1`
    const row = await pool.query({ name: 'row', text, values: [key.rows[0].tenant_id] })
    return settings(row.rows[0])
  })
  return { url: await bare.listen(AT), close: () => bare.close() }
}

/** A key of a new environment. */
async function newKey(pool: pg.Pool): Promise<string> {
  const secret = `parley_live_${randomBytes(20).toString('hex')}`
  await pool.query(
    `with o as (insert into parley.organisations (name) values ('x') returning owner_id),
      t as (insert into parley.tenants (owner_id, environment, name) select owner_id, 'production', 'x' from o returning tenant_id)
    insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash) select tenant_id, 'x', 'admin', 'parley_live_', $1 from t`,
    [createHash('sha256').update(secret).digest()],
  )
  return secret
}

interface Round {
  /** CPU time of this process per request, in us. */
  readonly cpu: number
  /** How long each request took, in ms. */
  readonly took: readonly number[]
}

async function compare(targets: Readonly<Record<'bare' | 'whole', string>>, key: string, rounds: number) {
  const asker = fork(import.meta.filename, ['ask'])
  const round = async (base: string): Promise<Round> => {
    const before = process.cpuUsage()
    const took = await new Promise<number[]>(resolve => {
      asker.once('message', resolve as (took: unknown) => void)
      asker.send({ url: base + OPERATION.path, key } satisfies Load)
    })
    const { user, system } = process.cpuUsage(before)
    return { cpu: (user + system) / took.length, took }
  }
  const measured = { bare: [] as Round[], whole: [] as Round[] }
  for (let count = -1; count < rounds; count++)
    for (const name of ['bare', 'whole'] as const) {
      const result = await round(targets[name])
      // The first round warms up.
      if (count >= 0) measured[name].push(result)
    }
  asker.disconnect()
  const [bare, whole] = [figures(measured.bare), figures(measured.whole)]
  const ratio = (one: number, other: number) => Number((one / other).toFixed(2))
  const ratios = { cpu_ratio: ratio(whole.cpu_us, bare.cpu_us), p50_ratio: ratio(whole.p50_ms, bare.p50_ms) }
  return { bare, whole, ...ratios }
}

function figures(rounds: readonly Round[]) {
  const took = rounds.flatMap(one => one.took)
  const cpu = rounds.map(one => one.cpu)
  return {
    cpu_us: Math.round(percentile(cpu, 0.5)),
    p50_ms: Number(percentile(took, 0.5).toFixed(2)),
    p99_ms: Number(percentile(took, 0.99).toFixed(2)),
  }
}

async function measure(rounds: number): Promise<void> {
  const server = await startTestServer()
  const database = await openDatabase({ ownerUrl: server.templateUrl, maxConnections: 10 })
  const pool = new pg.Pool({ connectionString: server.templateUrl, max: 10 })
  const [bare, whole] = [await bareApi(pool), await wholeApi(database)]
  const result = await compare({ bare: bare.url, whole: whole.url }, await newKey(pool), rounds)
  console.log(JSON.stringify(result))
  await bare.close()
  await whole.close()
  await pool.end()
  await database.close()
  await server.stop()
}

if (process.argv[2] === 'ask') process.on('message', load => void ask(load as Load).then(took => process.send?.(took)))
else await measure(Number(process.argv[2] ?? 8))
