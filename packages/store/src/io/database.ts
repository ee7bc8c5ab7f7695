import type { Scope } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { CompiledQuery, QueryResult } from 'kysely'
import { StoreError } from '../errors.ts'
import { jobsOn } from '../jobs/across-tenants.ts'
import type { JobsAcrossTenants } from '../jobs/protocol.ts'
import { leasesOn } from '../leases.ts'
import { peopleOn } from '../people/across-tenants.ts'
import type { PeopleAcrossTenants } from '../people/protocol.ts'
import type { Database, KeyHolder, Leases, Queries } from '../protocol.ts'
import type { SigningAcrossTenants } from '../release/protocol.ts'
import { signingOn } from '../release/signing-keys.ts'
import { runsOn } from '../runs/across-tenants.ts'
import { contentsOn } from '../runs/contents.ts'
import type { ContentsAcrossTenants, RunsAcrossTenants } from '../runs/protocol.ts'
import type { RunStatement } from '../statements.ts'
import { telephonyOn } from '../telephony/across-tenants.ts'
import type { TelephonyAcrossTenants } from '../telephony/protocol.ts'
import { webOn } from '../web/across-tenants.ts'
import type { WebAcrossTenants } from '../web/protocol.ts'
import { unavailable } from './database-failure.ts'
import { type ProcessRole, readAddress } from './owner-connection.ts'
import { type TenantContext, WholeAnswers } from './tenant-connection.ts'
import { queriesOn } from './tenant-driver.ts'
import { type PoolLimits, TenantPool } from './tenant-pool.ts'

interface DatabaseOptions extends PoolLimits {
  /** `postgres://owner:password@host:port/database`, migrated (`migrate`). Processes log in with roles of their own. */
  readonly ownerUrl: string
  /** The kind of this process: functions across tenants that others need are refused. Default: all kinds. */
  readonly process?: ProcessRole
  /** Most ms to wait for the first answer. Default 30000: where all of a machine's processes start at once, a connection takes seconds. */
  readonly openWithinMs?: Ms
}

/** How long a process waits for its database at its start. */
export const OPEN_WITHIN_MS: Ms = 30_000
/** A health check, such as that of a load balancer, waits for the answer. */
const PING_WITHIN_MS: Ms = 2000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Opens the application's pool and runs one query. Throws `database_unavailable`, or `database_misconfigured` when its role could
 * bypass row security.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const login = readAddress(options.ownerUrl).logins[options.process ?? 'all']
  const pool = new TenantPool(login, options)
  const database = new TenantDatabase(pool)
  const withinMs = options.openWithinMs ?? OPEN_WITHIN_MS
  try {
    await pool.connectingWithin(withinMs, () => database.ping(withinMs))
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

class TenantDatabase implements Database {
  readonly #pool: TenantPool
  readonly leases: Leases
  readonly runs: RunsAcrossTenants
  readonly jobs: JobsAcrossTenants
  readonly contents: ContentsAcrossTenants
  readonly telephony: TelephonyAcrossTenants
  readonly people: PeopleAcrossTenants
  readonly web: WebAcrossTenants
  readonly signing: SigningAcrossTenants

  constructor(pool: TenantPool) {
    this.#pool = pool
    const run: RunStatement = (name, text, values) => pool.bare(name, text, values)
    this.leases = leasesOn(run)
    this.runs = runsOn(run)
    this.jobs = jobsOn(run)
    this.contents = contentsOn(run)
    this.telephony = telephonyOn(run)
    this.people = peopleOn(run)
    this.web = webOn(run)
    this.signing = signingOn(run)
  }

  within(scope: Scope): Queries {
    return queriesOn(new ReadConnection(this.#pool, contextOf(scope)))
  }

  async transaction<Result>(
    scope: Scope,
    work: (tx: Queries) => Promise<Result>,
    lastWrites?: ((tx: Queries, result: Result) => Promise<unknown>) | 'one-trip',
  ): Promise<Result> {
    return this.#pool.transaction(
      contextOf(scope),
      connection => work(queriesOn(connection)),
      typeof lastWrites === 'function' ? (connection, result) => lastWrites(queriesOn(connection), result) : lastWrites,
    )
  }

  async keyOf(secretHash: Buffer): Promise<KeyHolder | null> {
    const { rows } = await this.#pool.bare('key_of', 'select * from parley.key_of($1)', [secretHash])
    const [key] = rows
    if (key === undefined) return null
    return {
      key_id: key.key_id,
      secret_hash: secretHash,
      role: key.role,
      can_dial: key.can_dial,
      scope: { owner_id: key.owner_id, environment: key.environment, tenant_id: key.tenant_id },
      valid_until: key.valid_until,
      rate: key.rate_per_second === null ? null : { perSecond: key.rate_per_second, burst: key.rate_burst },
    }
  }

  async touchKeys(keyIds: readonly string[]): Promise<void> {
    await this.#pool.bare('touch_keys', 'select parley.touch_keys($1::uuid[])', [keyIds])
  }

  async forgetIdempotency(keepMs: number, atMost: number): Promise<number> {
    const { rows } = await this.#pool.bare(
      'forget_idempotency',
      "select parley.forget_idempotency($1 * interval '1 ms', $2) as gone",
      [keepMs, atMost],
    )
    return Number(rows[0]?.gone)
  }

  async ping(withinMs: Ms = PING_WITHIN_MS): Promise<void> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => late.reject(unavailable(new Error(`no answer within ${withinMs / 1000} s`))),
      withinMs,
    )
    try {
      await Promise.race([this.#pool.bare('ping', 'select 1', []), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}

/** Each statement borrows a connection of its own. */
class ReadConnection extends WholeAnswers {
  readonly #pool: TenantPool
  readonly #context: TenantContext

  constructor(pool: TenantPool, context: TenantContext) {
    super()
    this.#pool = pool
    this.#context = context
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#pool.read<Row>(this.#context, query)
  }
}

function contextOf(scope: Scope): TenantContext {
  if (!UUID.test(scope.tenant_id) || !UUID.test(scope.owner_id))
    throw new StoreError('invalid_scope', 'a scope names its tenant and its owner by UUID')
  return { tenant: scope.tenant_id, owner: scope.owner_id }
}
