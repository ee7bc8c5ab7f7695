import { hash } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { PreparedQuery } from './prepared-query.ts'
import type { Queries, Sealer } from './protocol.ts'

/** A request that acts once, however often it is sent. */
export interface IdempotentRequest {
  /** The principal that sent the key: `api_key/<uuid>`, `user/<uuid>`. */
  readonly principal: string
  readonly operation: string
  /** As the client chose it. */
  readonly key: string
  /** SHA-256 of the request. */
  readonly requestHash: Buffer
  /** Its answer waits this long, in ms, to be taken once (`takeAnswer`). Default null: it may be repeated. */
  readonly deliversOnceMs?: number | null
}

/** The response to the first request. */
interface KeptAnswer {
  readonly status: number
  /** The body, byte for byte. */
  readonly body: string
}

export type Claim =
  /** The key is unused: act, then `keepAnswer` (or `keepIntent` before acting outside) in this transaction. */
  | { readonly state: 'fresh' }
  /** Its first request is running, here or in another process. */
  | { readonly state: 'in_progress' }
  | ({ readonly state: 'replay' } & KeptAnswer)
  /** Its answer, which is delivered once, was taken, or waited too long. */
  | { readonly state: 'consumed' }
  /** The key was used for another request. */
  | { readonly state: 'conflict' }
  /** The lease of an external operation expired. `intent` is what it was about to do: find out whether it did, then call `keepIntent` again, or `dropIntent`. */
  | { readonly state: 'lapsed'; readonly intent: Readonly<Record<string, unknown>> }

/** The lease of an external operation: only its holder may settle it. */
export interface IntentLease {
  readonly leaseUntil: string
}

/**
 * Claims the key for this transaction, or returns its state. Never waits: a key claimed by a running transaction is
 * `in_progress`. A rolled-back transaction frees it.
 */
export async function claim(tx: Queries, scope: Scope, sealer: Sealer, request: IdempotentRequest): Promise<Claim> {
  // Sent together. The snapshot of the second statement contains what the lock's last holder committed.
  const [lock, record] = await Promise.all([
    tryLock.first(tx, { lock: lockOf(scope, request) }),
    storedRecord.first(tx, { ...keyOf(scope, request), deliversOnceMs: request.deliversOnceMs ?? null }),
  ])
  if (lock?.got !== true) return { state: 'in_progress' }
  if (record === undefined) return { state: 'fresh' }
  if (!record.request_hash.equals(request.requestHash)) return { state: 'conflict' }
  if (record.status !== null && (record.answer === null || record.is_late)) return { state: 'consumed' }
  if (record.status !== null && record.answer !== null) {
    const body = sealer.open(record.answer, answerSealContext(scope, request)).toString('utf8')
    return { state: 'replay', status: record.status, body }
  }
  return record.is_leased ? { state: 'in_progress' } : { state: 'lapsed', intent: record.intent ?? {} }
}

const tryLock = new PreparedQuery(
  (_, { lock }: { readonly lock: string }) => sql<{ got: boolean }>`select pg_try_advisory_xact_lock(${lock}) as got`,
)

const storedRecord = new PreparedQuery(
  (
    db,
    { tenant_id, principal, operation, key, deliversOnceMs }: RecordKey & { readonly deliversOnceMs: number | null },
  ) =>
    db
      .selectFrom('idempotency')
      .where('tenant_id', '=', tenant_id)
      .where('principal', '=', principal)
      .where('operation', '=', operation)
      .where('key', '=', key)
      .select([
        'request_hash',
        'status',
        'answer',
        'intent',
        sql<boolean>`coalesce(lease_until > clock_timestamp(), false)`.as('is_leased'),
        sql<boolean>`coalesce(created_at < clock_timestamp() - ${deliversOnceMs}::float8 * interval '1 ms', false)`.as(
          'is_late',
        ),
      ]),
)

/** Stores the response of a claimed request, in the transaction of its changes. */
export async function keepAnswer(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  request: IdempotentRequest,
  answer: KeptAnswer,
): Promise<void> {
  const { requestHash: request_hash } = request
  await answeredRecord.execute(tx, {
    ...keyOf(scope, request),
    request_hash,
    ...sealed(scope, sealer, request, answer),
  })
}

const answeredRecord = new PreparedQuery(
  (
    db,
    {
      tenant_id,
      principal,
      operation,
      key,
      request_hash,
      status,
      answer,
    }: RecordKey & { readonly request_hash: Buffer; readonly status: number; readonly answer: Buffer },
  ) => db.insertInto('idempotency').values({ tenant_id, principal, operation, key, request_hash, status, answer }),
)

/** Stores what an external operation is about to do, before its external call; for a claim that is `fresh` or `lapsed`. */
export async function keepIntent(
  tx: Queries,
  scope: Scope,
  request: IdempotentRequest,
  intent: Readonly<Record<string, unknown>>,
  leaseMs: number,
): Promise<IntentLease> {
  const leased = { intent: JSON.stringify(intent), lease_until: leaseEnd(leaseMs) }
  const { lease_until } = await tx
    .insertInto('idempotency')
    .values({ ...keyOf(scope, request), request_hash: request.requestHash, ...leased })
    .onConflict(conflict =>
      conflict
        .columns(['tenant_id', 'principal', 'operation', 'key'])
        .doUpdateSet(leased)
        .where(sql<boolean>`idempotency.status is null and idempotency.lease_until <= clock_timestamp()`),
    )
    .returning('lease_until')
    .executeTakeFirstOrThrow()
  if (lease_until === null) throw new TypeError('an intent has a lease')
  return { leaseUntil: lease_until }
}

/** Stores the response of an external operation. False: another process has the lease, and its response counts. */
export async function settleIntent(
  tx: Queries,
  scope: Scope,
  sealer: Sealer,
  request: IdempotentRequest,
  lease: IntentLease,
  answer: KeptAnswer,
): Promise<boolean> {
  const settled = await tx
    .updateTable('idempotency')
    .where(isRecordOf(scope, request))
    .set({ ...sealed(scope, sealer, request, answer), lease_until: null, intent: null })
    .where('status', 'is', null)
    .where('lease_until', '=', lease.leaseUntil)
    .executeTakeFirst()
  return settled.numUpdatedRows === 1n
}

/** Takes an answer that is delivered once out of its record. False: another request has taken it. */
export async function takeAnswer(tx: Queries, scope: Scope, request: IdempotentRequest): Promise<boolean> {
  const taken = await tx
    .updateTable('idempotency')
    .where(isRecordOf(scope, request))
    .set({ answer: null })
    .where('status', 'is not', null)
    .where('answer', 'is not', null)
    .executeTakeFirst()
  return taken.numUpdatedRows === 1n
}

/** Frees the key of an external operation that did nothing. False: another process has the lease. */
export async function dropIntent(
  tx: Queries,
  scope: Scope,
  request: IdempotentRequest,
  lease: IntentLease,
): Promise<boolean> {
  const dropped = await tx
    .deleteFrom('idempotency')
    .where(isRecordOf(scope, request))
    .where('status', 'is', null)
    .where('lease_until', '=', lease.leaseUntil)
    .executeTakeFirst()
  return dropped.numDeletedRows === 1n
}

/** The context under which a response is sealed: it cannot be opened in another record. */
export function answerSealContext(scope: Scope, request: Omit<IdempotentRequest, 'requestHash'>): string {
  return JSON.stringify(['idempotency', scope.tenant_id, request.principal, request.operation, request.key])
}

interface RecordKey {
  readonly tenant_id: string
  readonly principal: string
  readonly operation: string
  readonly key: string
}

function keyOf(scope: Scope, { principal, operation, key }: IdempotentRequest): RecordKey {
  return { tenant_id: scope.tenant_id, principal, operation, key }
}

function isRecordOf(scope: Scope, { principal, operation, key }: IdempotentRequest) {
  return sql<boolean>`(tenant_id = ${scope.tenant_id}::uuid and principal = ${principal} and operation = ${operation} and key = ${key})`
}

function sealed(scope: Scope, sealer: Sealer, request: IdempotentRequest, answer: KeptAnswer) {
  const context = answerSealContext(scope, request)
  return { status: answer.status, answer: sealer.seal(Buffer.from(answer.body), context) }
}

function leaseEnd(leaseMs: number) {
  return sql<string>`parley.now_ms() + ${leaseMs} * interval '1 ms'`
}

/** One of 2^64 lock numbers. Two keys with the same number by chance: one gets `in_progress` and is retried. */
function lockOf(scope: Scope, { principal, operation, key }: IdempotentRequest): string {
  const name = JSON.stringify([scope.tenant_id, principal, operation, key])
  return hash('sha256', name, 'buffer').readBigInt64BE().toString()
}
