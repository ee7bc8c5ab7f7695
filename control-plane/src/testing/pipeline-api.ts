import { createHash, randomBytes } from 'node:crypto'
import { type AnswerOf, type Operation, type OperationId, operations, type Role, type Scope } from '@parley/contract'
import type { Bus, Database } from '@parley/store'
import { localBus, type TestDatabase, testDatabase } from '@parley/store/testing'
import { pino } from 'pino'
import type { ExternalContext, Platform } from '../context.ts'
import { type Api, type ApiOptions, buildApiOf } from '../http/api.ts'
import { CONNECTIONS } from '../http/connections.ts'
import { type Route, routeOf } from '../pipeline/route.ts'
import { type TestPlatform, testPlatform } from './test-platform.ts'

type AnyHandler = (input: never, context: ExternalContext) => Promise<AnswerOf<Operation>>

/** The response to an HTTP request. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

export interface RequestOptions {
  readonly key?: string | null
  readonly idempotencyKey?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface PipelineApi {
  readonly api: Api
  readonly url: string
  readonly db: TestDatabase
  readonly scope: Scope
  readonly keys: Readonly<Record<Role, string>>
  readonly platform: TestPlatform
  /** The log so far, as text. */
  readonly logged: () => string
  request(method: string, path: string, options?: RequestOptions): Promise<Received>
  /** A new key of the scope (default: the API's own). */
  newKey(role: Role, scope?: Scope): Promise<{ readonly secret: string; readonly key_id: string }>
  audited(action: string): Promise<{ outcome: string; resource_kind: string | null; request_id: string }[]>
  close(): Promise<void>
}

export interface PipelineApiOptions
  extends Partial<Pick<ApiOptions, 'limits' | 'publicUrl' | 'bus' | 'consoleDirectory' | 'webScript'>> {
  /** A database that the caller closes. Default: a new one, closed with the API. */
  readonly db?: TestDatabase
  /** The database that the API uses. Default: that of `db`. */
  readonly database?: Database
  readonly bus?: Bus
  /** Replaces members of `testPlatform()`. */
  readonly platform?: Partial<Platform>
  /** Routes of operations that are not in the contract. */
  readonly more?: readonly Route[]
}

/**
 * A test that gets a hundredth of a busy machine is read by its server seconds after it wrote: without these limits a whole request was
 * refused with 408. Tests of limits name their own.
 */
const PATIENT = {
  connections: { ...CONNECTIONS, headMs: 300_000, requestMs: 300_000, silentMs: 300_000 },
  reading: { timeoutMs: 300_000 },
} as const satisfies ApiOptions['limits']

/** An API with these handlers only, over real sockets and a real Postgres. Default limits of connections and reading: five minutes. */
export async function pipelineApi(
  handlers: { readonly [Id in OperationId]?: AnyHandler },
  {
    db: sharedDb,
    database,
    bus = localBus(),
    more = [],
    platform: overrides = {},
    limits,
    ...rest
  }: PipelineApiOptions = {},
): Promise<PipelineApi> {
  const db = sharedDb ?? (await testDatabase())
  const scope = await db.scope()
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: line => void lines.push(line) })
  const all: readonly Operation[] = operations
  const routes = all.flatMap(operation => {
    const handler = handlers[operation.id as OperationId]
    return handler === undefined ? [] : [routeOf(operation, handler as Route['handler'])]
  })
  const platform = { ...testPlatform(), ...overrides }
  const options = { database: database ?? db.database, bus, platform, log, limits: { ...PATIENT, ...limits }, ...rest }
  const api = await buildApiOf([...routes, ...more], options)
  const url = await api.listen({ host: '127.0.0.1', port: 0 })
  const newKey = (role: Role, of = scope) => insertKey(db, of, role)
  const keys = {
    viewer: (await newKey('viewer')).secret,
    member: (await newKey('member')).secret,
    admin: (await newKey('admin')).secret,
  }
  return {
    api,
    url,
    db,
    scope,
    keys,
    newKey,
    platform,
    logged: () => lines.join(''),
    request: (method, path, requestOptions) =>
      request(new URL(path, url), method, { key: keys.admin, ...requestOptions }),
    async audited(action) {
      const { rows } = await db.owner.query(
        'select outcome, resource_kind, request_id from parley.audit where action = $1 order by occurred_at, audit_id',
        [action],
      )
      return rows
    },
    async close() {
      await api.close()
      if (sharedDb === undefined) await db.close()
    },
  }
}

async function insertKey(db: TestDatabase, scope: Scope, role: Role) {
  const secret = `parley_live_${randomBytes(20).toString('hex')}`
  const { rows } = await db.owner.query(
    'insert into parley.api_keys (tenant_id, name, role, prefix, secret_hash) values ($1, $2, $2, $3, $4) returning key_id',
    [scope.tenant_id, role, secret.slice(0, 18), createHash('sha256').update(secret).digest()],
  )
  return { secret, key_id: String(rows[0].key_id) }
}

async function request(
  url: URL,
  method: string,
  { key, idempotencyKey, body, headers }: RequestOptions,
): Promise<Received> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(key !== null && key !== undefined && { authorization: `Bearer ${key}` }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    body: isJson && text !== '' ? JSON.parse(text) : null,
  }
}
