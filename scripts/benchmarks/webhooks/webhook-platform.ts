import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from '@parley/contract'
import { OutboundHttp } from '@parley/egress'
import { startWorker } from '@parley/jobs'
import { systemRandom, systemTime } from '@parley/kernel'
import { RulesModel } from '@parley/providers'
import { BullConnections, BullEnvironmentQueue } from '@parley/runs'
import {
  MasterKeySealer,
  migrate,
  openDatabase,
  postgresBus,
  putSecret,
  startEmbeddedPostgres,
  withNewKey,
} from '@parley/store'
import pg from 'pg'

export interface WebhookPlatform {
  /** When each run's webhook arrived, by `performance.now`. */
  readonly arrivals: ReadonlyMap<string, number>
  /** An environment with a receiver that answers 200 at once, or never. */
  environment(receiver: 'quick' | 'dead'): Promise<Scope>
  /** Commits a webhook of each run, as the end of a run does, and wakes the environment. */
  announce(scope: Scope, runIds: readonly string[]): Promise<void>
  arrived(runIds: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** A durable embedded Postgres and one worker. */
export async function openWebhookPlatform(): Promise<WebhookPlatform> {
  const home = await mkdtemp(join(tmpdir(), 'parley-bench-'))
  const server = await startEmbeddedPostgres({ home })
  const { ownerUrl } = server
  await migrate(ownerUrl)
  const owner = new pg.Pool({ connectionString: ownerUrl, max: 4 })
  const { rows: place } = await owner.query('show data_directory')
  const receiver = await openReceiver()
  const database = await openDatabase({ ownerUrl })
  const sealer = new MasterKeySealer(withNewKey(new Map([[1, Buffer.alloc(32, 1)]])))
  const bus = postgresBus({ url: ownerUrl, onProblem: () => {} })
  const egress = new OutboundHttp({ allow: [{ host: '127.0.0.1', port: receiver.port }], time: systemTime })
  const log = (what: string, error: unknown) => process.stderr.write(`${what}: ${error}\n`)
  const connections = new BullConnections({
    on: { postgres: ownerUrl },
    wallClock: Date.now,
    onProblem: line => log(line, ''),
  })
  const queue = new BullEnvironmentQueue(connections)
  const noCall = async () => ({ confirmed: true, status: null, detail: '' })
  const model = new RulesModel()
  const worker = await startWorker({
    database,
    bus,
    queue,
    sealer,
    egress,
    pagingUrl: 'https://paging.invalid/v2/enqueue',
    models: () => model,
    embedders: () => null,
    reader: { read: async () => ({ type: 'unreadable', error: 'nothing is read here' }) },
    hangUp: { bye: noCall, cancel: noCall },
    wake: () => {},
    expireContents: async () => false,
    joinRecordings: async () => false,
    time: systemTime,
    random: systemRandom,
    wallClock: Date.now,
    log,
  })
  return {
    arrivals: receiver.arrivals,
    async environment(kind) {
      const { rows: organisations } = await owner.query(
        "insert into parley.organisations (name) values ('Bench') returning owner_id",
      )
      const { owner_id } = organisations[0]
      const { rows } = await owner.query(
        "insert into parley.tenants (owner_id, environment, name) values ($1, 'production', 'Bench') returning tenant_id",
        [owner_id],
      )
      const scope: Scope = { owner_id, environment: 'production', tenant_id: rows[0].tenant_id }
      const url = `http://127.0.0.1:${receiver.port}/${kind}`
      const plan = { notification: { url, secret: { id: 'hook', version: '1' }, events: ['run.ended'] } }
      await owner.query("insert into parley.agents (tenant_id, agent_id, name) values ($1, 'teller', 'A')", [
        scope.tenant_id,
      ])
      await owner.query(
        `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
           source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
         values ($1, 'teller', 1, 'd', 1, '{phone,cloud}', '{en}', 'api', '{}', false, uuidv7(), 1, $2, '{}', '[]')`,
        [scope.tenant_id, JSON.stringify(plan)],
      )
      const secret = { secret_id: 'hook', kind: 'webhook_signing', value: 'secret' } as const
      await database.transaction(scope, tx => putSecret(tx, scope, sealer, secret))
      return scope
    },
    async announce(scope, runIds) {
      await owner.query(
        `insert into parley.outbox (tenant_id, run_id, event, payload)
         select $1, run_id, 'run.ended',
           jsonb_build_object('run_id', run_id, 'publication', '{"agent_id": "teller", "version": 1}'::jsonb)
         from unnest($2::uuid[]) as runs (run_id)`,
        [scope.tenant_id, runIds],
      )
      queue.wake('webhooks', scope)
    },
    async arrived(runIds) {
      while (!runIds.every(runId => receiver.arrivals.has(runId))) await pause(5)
    },
    async close() {
      await worker.close()
      await connections.close()
      await bus.close()
      await egress.close()
      await database.close()
      await owner.end()
      await receiver.close()
      await server.stop()
      await rm(dirname(place[0].data_directory), { recursive: true, force: true })
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function openReceiver() {
  const arrivals = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const at = performance.now()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.url === '/dead') return
    const { run } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { run: { run_id: string } }
    arrivals.set(run.run_id, at)
    response.writeHead(200).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    arrivals,
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
