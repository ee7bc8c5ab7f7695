import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { OperationId, Scope } from '@parley/contract'
import { openWholeApi, type RequestParts, type WholeApi } from '@parley/control-plane/testing'
import { installRateCard, MasterKeySealer } from '@parley/store'
import { startTestServer, type TestDatabase, testDatabaseOn } from '@parley/store/testing'
import { pollUntil } from '../calls/poll-until.ts'
import { Receiver } from './receiver.ts'
import { MASTER_KEY, type WorkerConfig } from './worker-config.ts'

const PROGRAM = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
const READY_WITHIN_MS = 120_000
/** For what the platform does within a second or two, and up to 20 s after a kill. */
const WAIT_MS = 180_000
const AGENT = 'caller'
const RATE_CARD = {
  rate_card_id: 'proof',
  effective_at: null,
  reserve_usd: { phone: '0', web: '0', cloud: '0' },
  rates: [],
}
const EVERY_MS = 500
const LEASE_MS = 4000

// biome-ignore lint/suspicious/noExplicitAny: the proof looks into answers of every shape
type Body = any

/** An environment with an admin key. */
export interface Environment {
  readonly scope: Scope
  call(id: OperationId, parts?: RequestParts): Promise<Body>
  /** Statements as the owner; `$1` is the environment. */
  sql(text: string, ...values: readonly unknown[]): Promise<Body[]>
}

/** The API on a Postgres of its own, a receiver of notifications, and a worker in a process that can be killed. */
export class AlertPlatform {
  readonly receiver: Receiver
  readonly #server: Awaited<ReturnType<typeof startTestServer>>
  readonly #db: TestDatabase
  readonly #api: WholeApi
  #worker: ChildProcess | null = null
  #output = ''

  private constructor(
    server: Awaited<ReturnType<typeof startTestServer>>,
    db: TestDatabase,
    api: WholeApi,
    receiver: Receiver,
  ) {
    this.#server = server
    this.#db = db
    this.#api = api
    this.receiver = receiver
  }

  static async open(): Promise<AlertPlatform> {
    const server = await startTestServer()
    const db = await testDatabaseOn(server.templateUrl)
    const platform = { sealer: new MasterKeySealer(MASTER_KEY), allowsPlainHttp: () => true, allowsSipHost: () => true }
    return new AlertPlatform(server, db, await openWholeApi({ db, platform }), await Receiver.open())
  }

  /** What the workers wrote to standard error. */
  get output(): string {
    return this.#output
  }

  /** Starts a worker; resolves when it is ready. */
  async startWorker(): Promise<void> {
    const config: WorkerConfig = {
      ownerUrl: this.#db.owner.url,
      receiverPort: this.receiver.port,
      everyMs: EVERY_MS,
      leaseMs: LEASE_MS,
    }
    const worker = spawn(process.execPath, [PROGRAM, JSON.stringify(config)], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#worker = worker
    const ready = Promise.withResolvers<void>()
    worker.stdout.once('data', () => ready.resolve())
    worker.stderr.on('data', chunk => {
      this.#output = (this.#output + chunk).slice(-20_000)
    })
    worker.once('exit', () => ready.reject(new Error(`the worker ended: ${this.#output}`)))
    const timer = setTimeout(() => ready.reject(new Error(`the worker is not ready: ${this.#output}`)), READY_WITHIN_MS)
    await ready.promise.finally(() => clearTimeout(timer))
  }

  /** Sends SIGKILL to the worker and waits for its exit. */
  async killWorker(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    if (worker === null || worker.exitCode !== null || worker.signalCode !== null) return
    const exited = once(worker, 'exit')
    worker.kill('SIGKILL')
    await exited
  }

  /** A new environment with the published agent `caller`, whose calls are recorded, and the secret of alert webhooks. */
  async environment(hasPrices = true): Promise<Environment> {
    const scope = await this.#db.scope()
    const { secret } = await this.#api.newKey('admin', scope)
    const environment: Environment = {
      scope,
      call: async (id, parts = {}) => {
        const { status, body } = await this.#api.send(id, parts, { key: secret })
        if (status >= 300) throw new Error(`${id}: ${status} ${JSON.stringify(body)}`)
        return body
      },
      sql: async (text, ...values) => (await this.#db.owner.query(text, [scope.tenant_id, ...values])).rows,
    }
    const { call } = environment
    const agent = await call('agents.create', { body: { template: 'phone_outbound', name: 'A', agent_id: AGENT } })
    const draft = { draft_id: agent.draft.draft_id, expected_revision: 1 }
    const params = { agent_id: AGENT }
    const edits = [{ type: 'agent.recording', value: { required: true, channels: 'dual' } }]
    await call('drafts.edit', { params, body: { ...draft, edits } })
    await call('publications.publish', { params, body: { ...draft, expected_revision: 2 } })
    await call('secrets.put', {
      params: { secret_id: 'alert_webhook' },
      body: { kind: 'webhook_signing', value: 'a secret' },
    })
    if (hasPrices) await this.#db.database.transaction(scope, tx => installRateCard(tx, scope, RATE_CARD))
    return environment
  }

  async close(): Promise<void> {
    await this.killWorker()
    await this.receiver.close()
    await this.#api.close()
    await this.#db.close()
    await this.#server.stop()
  }
}

/** The rule with this id, when `isSo` holds of it. Throws if it does not within three minutes. */
export async function ruleWhen(
  { call }: Environment,
  alertId: string,
  what: string,
  isSo: (rule: Body) => boolean,
): Promise<Body> {
  let last: Body = null
  const found = await pollUntil(WAIT_MS, async () => {
    last = (await call('alerts.list')).items.find(({ id }: { id: string }) => id === alertId)
    return isSo(last) ? last : null
  })
  if (found === null) throw new Error(`the rule never was ${what}: ${JSON.stringify(last)}`)
  return found
}

/** Resolves when the rule was evaluated this many times more. */
export async function evaluations(environment: Environment, alertId: string, count: number): Promise<Body> {
  let rule = await ruleWhen(environment, alertId, 'evaluated', ({ evaluation }) => evaluation.evaluated_at !== null)
  for (let more = 0; more < count; more++) {
    const before = rule.evaluation.evaluated_at
    rule = await ruleWhen(environment, alertId, 'evaluated', ({ evaluation }) => evaluation.evaluated_at !== before)
  }
  return rule
}

/** Creates a rule that notifies `value`; default: a webhook at `/hook/<tenant id>`. */
export async function newRule(
  environment: Environment,
  receiver: Receiver,
  metric: string,
  threshold: string,
  value: object = { kind: 'webhook', url: `http://127.0.0.1:${receiver.port}${hookOf(environment)}` },
): Promise<string> {
  const rule = { metric, threshold, enabled: true, destination: value }
  return (await environment.call('alerts.create', { body: { rule } })).rule.id
}

/** The path of the environment's webhook at the receiver. */
export function hookOf({ scope }: Environment): string {
  return `/hook/${scope.tenant_id}`
}
