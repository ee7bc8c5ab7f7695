import { type Operation, type OperationId, operations } from '@parley/contract'
import { toText } from '@parley/contract/testing'
import { installRateCard } from '@parley/store'
import { localBus, type TestDatabase } from '@parley/store/testing'
import type { Handlers } from '../context.ts'
import { handlers } from '../handlers.ts'
import { runOwners } from './chat-answerer.ts'
import type { PipelineApiOptions } from './pipeline-api.ts'
import { type PipelineApi, pipelineApi } from './pipeline-api.ts'
import { insertInputs } from './recorded-run.ts'
import type { Answer, RequestParts, World } from './request-world.ts'
import { startTestRuns } from './start-test-runs.ts'

/** An API with every operation, over HTTP and on a real Postgres; production and sandbox of one organisation. */
export interface WholeApi {
  readonly url: string
  readonly db: PipelineApi['db']
  readonly scope: PipelineApi['scope']
  readonly platform: PipelineApi['platform']
  readonly newKey: PipelineApi['newKey']
  /** What it has logged so far, a line of JSON for each request. */
  readonly logged: PipelineApi['logged']
  readonly keys: Readonly<Record<'viewer' | 'member' | 'admin' | 'sandboxAdmin', string>>
  /** Creates resources in production. */
  readonly world: World
  /** Default: the admin key, and a new idempotency key if one is required; null: none. */
  send(id: OperationId, parts: RequestParts, as?: SendOptions): Promise<Answer>
  close(): Promise<void>
}

interface SendOptions {
  readonly key?: string | null
  readonly idempotencyKey?: string | null
}

const RATE_CARD = {
  rate_card_id: 'of-the-tests',
  effective_at: null,
  reserve_usd: { phone: '0.01', web: '0.01', cloud: '0.001' },
  rates: [{ meter: 'connected_ms', per: 60_000, price_usd: '0.02', channel: null, provider: null, model_id: null }],
} as const

/** Rates that no test reaches. */
const GENEROUS = { perSecond: 1_000_000, burst: 1_000_000 }

/** `overrides` replace handlers of the product. */
export async function openWholeApi(
  options: PipelineApiOptions = {},
  overrides: Partial<Handlers> = {},
): Promise<WholeApi> {
  const limits = { rates: { key: GENEROUS, costly: GENEROUS, address: GENEROUS, signIn: GENEROUS } }
  const bus = options.bus ?? localBus()
  const api = await pipelineApi({ ...handlers, ...overrides }, { limits, ...options, bus })
  const owners = runOwners(api.db, bus)
  const sandbox = await api.db.scope({ environment: 'sandbox', owner_id: api.scope.owner_id })
  await api.db.owner.query(
    `update parley.tenants set concurrent_capacity = 100000, admission_enabled = true,
       destinations = '{"countries": ["US"], "allow_prefixes": []}'`,
  )
  await api.db.database.transaction(api.scope, tx => installRateCard(tx, api.scope, RATE_CARD))
  const keys = { ...api.keys, sandboxAdmin: (await api.newKey('admin', sandbox)).secret }
  let fresh = 0
  const unique = (prefix: string) => `${prefix}-${(++fresh).toString(36).padStart(6, '0')}`
  const send: WholeApi['send'] = (id, parts, { key = keys.admin, idempotencyKey } = {}) => {
    const operation = operationOf(id)
    const usedKey =
      operation.idempotencyKey === null ? null : idempotencyKey === undefined ? unique('key') : idempotencyKey
    return api.request(operation.method, pathOf(operation, parts), {
      key,
      ...(usedKey !== null && { idempotencyKey: usedKey }),
      ...(parts.body !== undefined && { body: parts.body }),
    })
  }
  const call: World['call'] = async (id, parts) => {
    const answer = await send(id, parts)
    if (answer.status >= 300) throw new Error(`${id}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  return {
    url: api.url,
    db: api.db,
    scope: api.scope,
    platform: api.platform,
    newKey: api.newKey,
    logged: api.logged,
    keys,
    send,
    world: {
      tenantId: api.scope.tenant_id,
      fresh: unique,
      call,
      async member() {
        const body = { email: `${unique('person')}@example.com`, role: 'member' }
        const { link } = await call('team.invite', { body })
        const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token')
        return (await api.request('POST', '/auth/session', { key: null, body: { token } })).body.principal.id
      },
      own: async runId => void (await owners.take(runId)),
      uncertainDelivery: alertId => insertUncertainDelivery(api.db, alertId),
      async recordedRun(run_id) {
        await send('runs.cancel', { params: { run_id } })
        await insertInputs(api.db, api.scope, run_id)
        return run_id
      },
      startTestRuns: () => startTestRuns(api.db.database, api.scope),
    },
    async close() {
      owners.close()
      await api.close()
    },
  }
}

function operationOf(id: OperationId): Operation {
  return operations.find(operation => operation.id === id)!
}

function pathOf({ path }: Operation, { params = {}, query = {} }: RequestParts): string {
  const named = path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams(toText(query)).toString()
  return search === '' ? named : `${named}?${search}`
}

async function insertUncertainDelivery(db: TestDatabase, alertId: string): Promise<string> {
  const { rows } = await db.owner.query(
    `insert into parley.alert_deliveries (tenant_id, alert_id, rule_revision, status, destination_kind, destination_revision, value,
       threshold, window_from, window_to, send_intent_at, finished_at, error_code)
     select tenant_id, alert_id, revision, 'uncertain', destination_kind, destination_revision::text, '13', threshold,
       now() - interval '1 hour', now(), now(), now(), 'timeout'
     from parley.alert_rules where alert_id = $1 returning delivery_id`,
    [alertId],
  )
  return rows[0].delivery_id
}
