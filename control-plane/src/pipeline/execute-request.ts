import { type InputOf, type Operation, Refusal, type Status } from '@parley/contract'
import type { ParleyError } from '@parley/kernel'
import {
  type Bus,
  claim,
  type Database,
  type DueWork,
  dropIntent,
  type IdempotentRequest,
  type IntentLease,
  keepAnswer,
  keepIntent,
  lockPresented,
  type PresentedCredentials,
  type Queries,
  settleIntent,
  type Topic,
  takeAnswer,
  writeAudit,
} from '@parley/store'
import type { AuditedResource, ExternalContext, PersonLink, Platform, Principal, WaitingRun } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { Reading } from '../reading/read-task.ts'
import type { ReadingThreads } from '../reading/reading-threads.ts'
import { type CheckedAnswer, checkedAnswer, replayedAnswer } from './answer.ts'
import { noLongerValid } from './authenticator.ts'
import { allWritten, type LastWrite } from './last-writes.ts'
import { type Offload, withOffloading } from './offload.ts'
import { transactionOrRefusal } from './refusal-after-commit.ts'
import { mayCall, type Route } from './route.ts'
import type { RunChanges } from './run-changes.ts'

/** A parsed request of an authenticated and authorised client. */
export interface PreparedRequest {
  readonly route: Route
  readonly input: InputOf<Operation>
  readonly principal: Principal
  /** What the request was authenticated by, checked again in the transaction that decides its effect. */
  readonly presented: PresentedCredentials
  readonly requestId: string
  /** The body as a worker thread parsed it; undefined when `input` contains the whole body. */
  readonly reading?: Reading | undefined
  /** The key of its idempotency record; null for requests without one. */
  readonly record: IdempotentRequest | null
}

/** What a handler requests besides its answer. */
export interface SideEffects {
  auditedResource: AuditedResource | null
  readonly notifications: { readonly topic: Topic; readonly id: string }[]
  readonly runsToWake: WaitingRun[]
  readonly linksToDeliver: PersonLink[]
  readonly dueWork: DueWork[]
}

export function noSideEffects(): SideEffects {
  return { auditedResource: null, notifications: [], runsToWake: [], linksToDeliver: [], dueWork: [] }
}

export interface PipelineDependencies {
  readonly database: Pick<Database, 'within' | 'transaction'>
  readonly platform: Platform
  readonly bus: Pick<Bus, 'publish'>
  readonly runChanges: RunChanges
  readonly threads: ReadingThreads
  /** Lease of an `external` operation on its idempotency record, in ms. */
  readonly leaseMs: number
}

type ResultWrite = (tx: Queries) => Promise<void>

/**
 * Runs the handler as its operation kind demands and returns its checked answer, or the stored answer of a repeated
 * request. Fills in `effects`, which keeps its content when this throws.
 */
export function execute(
  dependencies: PipelineDependencies,
  request: PreparedRequest,
  effects: SideEffects,
): Promise<CheckedAnswer> {
  if (request.route.kind === 'read') return executeRead(dependencies, request, effects)
  return request.route.kind === 'transactional'
    ? executeTransaction(dependencies, request, effects)
    : executeExternal(dependencies, request, effects)
}

async function executeRead(
  dependencies: PipelineDependencies,
  request: PreparedRequest,
  effects: SideEffects,
): Promise<CheckedAnswer> {
  const { route, principal } = request
  const db = dependencies.database.within(principal.scope)
  const answer = checkedAnswer(route, await route.handler(request.input, contextOf(dependencies, request, effects, db)))
  // The audit item is committed before the answer is returned.
  if (route.operation.auditsReads)
    await dependencies.database.transaction(principal.scope, tx => audit(tx, request, effects, 'allowed'))
  return answer
}

/** The answer after the operation's `afterCommit` step; the stored answer when there is no such step or it fails. */
export async function afterCommit(
  dependencies: PipelineDependencies,
  { route, principal }: PreparedRequest,
  stored: CheckedAnswer,
): Promise<CheckedAnswer> {
  if (route.afterCommit === null) return stored
  const { scope } = principal
  const answer = { status: stored.status as Status, body: JSON.parse(stored.text) }
  const context = {
    scope,
    db: dependencies.database.within(scope),
    now: dependencies.platform.now,
    waitForRunChange: (runId: string, withinMs: number) => dependencies.runChanges.wait(runId, withinMs),
  }
  try {
    return checkedAnswer(route, await route.afterCommit(answer, context))
  } catch {
    return stored
  }
}

/**
 * Before an answer that is delivered once is sent: takes it out of the idempotency record. Throws `preview_consumed` when another
 * request was first.
 */
export async function takeOnce(
  { database }: PipelineDependencies,
  { route, principal, record }: PreparedRequest,
): Promise<void> {
  if (route.operation.deliversOnceMs === null || record === null) return
  const { scope } = principal
  if (!(await database.transaction(scope, tx => takeAnswer(tx, scope, record)))) throw consumed()
}

function consumed(): Refusal {
  return new Refusal(
    'conflict',
    'the audio for this Idempotency-Key was returned already: use a new key to hear it again',
    {
      reason: 'preview_consumed',
    },
  )
}

/** Claims the idempotency record, changes data, and stores audit item and answer in one transaction. */
async function executeTransaction(
  dependencies: PipelineDependencies,
  request: PreparedRequest,
  effects: SideEffects,
): Promise<CheckedAnswer> {
  const { record, route } = request
  const { scope } = request.principal
  const { sealer } = dependencies.platform
  const last: LastWrite[] = []
  const attempt = (offload: Offload) => async (tx: Queries) => {
    // A retried transaction starts without the effects of the attempt that was rolled back.
    clearSideEffects(effects)
    last.length = 0
    const context = { ...contextOf(dependencies, request, effects, tx, { last }), offload }
    const checked = storedAnswer(dependencies, request, tx)
    route.firstReads?.(request.input, context)
    const stored = await checked
    if (stored !== null) return { answer: stored, isNew: false }
    return { answer: checkedAnswer(route, await route.handler(request.input, context)), isNew: true }
  }
  const lastWrites = async (tx: Queries, { answer, isNew }: { answer: CheckedAnswer; isNew: boolean }) => {
    if (!isNew) return
    const kept = [audit(tx, request, effects, 'allowed')]
    if (record !== null) kept.push(keepAnswer(tx, scope, sealer, record, { status: answer.status, body: answer.text }))
    // Sent after them, since they may hold locks for which other requests wait; their error is the one that explains.
    await allWritten([...last.map(one => one.write(tx)), ...kept])
  }
  try {
    const { answer } = await withOffloading(offload =>
      transactionOrRefusal(dependencies.database, scope, attempt(offload), lastWrites),
    )
    return answer
  } catch (error) {
    for (const one of last) {
      const explained = await one.explain(error, dependencies.database.within(scope))
      if (explained === error) continue
      clearSideEffects(effects)
      throw explained
    }
    throw error
  }
}

/** Commits the intent before the external request and the result after it; no connection is held in between. */
async function executeExternal(
  dependencies: PipelineDependencies,
  request: PreparedRequest,
  effects: SideEffects,
): Promise<CheckedAnswer> {
  const { record, route } = request
  const { scope } = request.principal
  const begun =
    record === null
      ? null
      : await dependencies.database.transaction(scope, tx => claimIntent(dependencies, request, tx, record))
  if (begun !== null && 'text' in begun) return begun

  const resultWrites: ResultWrite[] = []
  const db = dependencies.database.within(scope)
  try {
    const answer = checkedAnswer(
      route,
      await route.handler(request.input, contextOf(dependencies, request, effects, db, { resultWrites })),
    )
    await storeResult(dependencies, request, effects, { answer, lease: begun, resultWrites })
    return answer
  } catch (error) {
    // A handler refuses before it acts externally, so the idempotency key is released.
    const isRefusal = error instanceof Refusal
    if (!isRefusal && !route.operation.resumable) throw outcomeUnknown(error)
    // A resumable operation recognises its own repetition, so the idempotency key is released for it.
    if (record !== null && begun !== null) await releaseIntent(dependencies, request, record, begun)
    throw isRefusal ? error : outcomeUnknown(error)
  }
}

async function claimIntent(
  dependencies: PipelineDependencies,
  request: PreparedRequest,
  tx: Queries,
  record: IdempotentRequest,
) {
  const stored = await storedAnswer(dependencies, request, tx)
  return (
    stored ?? keepIntent(tx, request.principal.scope, record, { request_id: request.requestId }, dependencies.leaseMs)
  )
}

interface Result {
  readonly answer: CheckedAnswer
  readonly lease: IntentLease | null
  readonly resultWrites: readonly ResultWrite[]
}

async function storeResult(
  dependencies: PipelineDependencies,
  request: PreparedRequest,
  effects: SideEffects,
  { answer, lease, resultWrites }: Result,
): Promise<void> {
  const { scope } = request.principal
  const { sealer } = dependencies.platform
  try {
    await dependencies.database.transaction(scope, async tx => {
      for (const finish of resultWrites) await finish(tx)
      await audit(tx, request, effects, 'allowed')
      if (request.record === null || lease === null) return
      const stored = { status: answer.status, body: answer.text }
      if (await settleIntent(tx, scope, sealer, request.record, lease, stored)) return
      throw new ApiError(
        'lease_lost',
        'the request ran longer than its lease on the idempotency key: repeat it with the same key',
      )
    })
  } catch (error) {
    throw outcomeUnknown(error)
  }
}

async function releaseIntent(
  dependencies: PipelineDependencies,
  request: PreparedRequest,
  record: IdempotentRequest,
  lease: IntentLease,
): Promise<void> {
  const { scope } = request.principal
  try {
    await dependencies.database.transaction(scope, tx => dropIntent(tx, scope, record, lease))
  } catch (error) {
    throw outcomeUnknown(error)
  }
}

function outcomeUnknown(cause: unknown): ParleyError {
  if (ApiError.is(cause, 'outcome_unknown')) return cause
  return new ApiError('outcome_unknown', 'the result of the external request is unknown', { cause })
}

const FRESH = { state: 'fresh' } as const

/**
 * Checks the credentials again, so that no write is decided after their revocation, and claims the idempotency record for this
 * transaction. Returns the stored answer of a repeated request, else null.
 */
async function storedAnswer(
  { platform }: PipelineDependencies,
  request: PreparedRequest,
  tx: Queries,
): Promise<CheckedAnswer | null> {
  const { principal, route, record } = request
  // Sent together: most requests pass both.
  const [, claimed] = await Promise.all([
    assertStillAllowed(tx, request),
    record === null ? FRESH : claim(tx, principal.scope, platform.sealer, record),
  ])
  switch (claimed.state) {
    case 'fresh':
      return null
    case 'replay':
      return replayedAnswer(claimed.status, claimed.body)
    case 'consumed':
      throw consumed()
    case 'conflict':
      throw new Refusal('idempotency_conflict', 'this Idempotency-Key was used for another request: use a new one')
    case 'in_progress':
      throw new Refusal('conflict', 'the first request with this Idempotency-Key still runs: repeat it in a moment', {
        reason: 'in_progress',
      })
    case 'lapsed':
      if (route.operation.resumable) return null
      // The previous owner died, and nothing is stored that could show what it did externally.
      throw outcomeUnknown(undefined)
  }
}

/** Refuses a request whose credentials were revoked, or whose member got another role, after it was authenticated. */
async function assertStillAllowed(
  tx: Queries,
  { principal, presented, route }: Pick<PreparedRequest, 'principal' | 'presented' | 'route'>,
): Promise<void> {
  const role = await lockPresented(tx, principal.scope, presented, principal.role)
  if (role === null) throw noLongerValid(presented)
  if (role !== principal.role || !mayCall(role, route))
    throw new Refusal('forbidden', 'the role changed while the request was under way: repeat the request', {
      reason: 'role',
    })
}

/** Writes the audit item of the request in `tx`. */
export function audit(
  tx: Queries,
  request: Pick<PreparedRequest, 'route' | 'principal' | 'requestId'>,
  effects: SideEffects,
  outcome: 'allowed' | 'denied' | 'failed',
): Promise<void> {
  const { route, principal, requestId } = request
  return writeAudit(tx, principal.scope, {
    principal: principal.ref,
    action: route.operation.id,
    resource: effects.auditedResource,
    outcome,
    request_id: requestId,
  })
}

/** Where a handler leaves the writes that are done after it. */
interface LaterWrites {
  /** Of an external operation. */
  readonly resultWrites?: ResultWrite[]
  /** Of a transactional one. */
  readonly last?: LastWrite[]
}

function contextOf(
  { platform, database, bus, runChanges, threads }: PipelineDependencies,
  request: PreparedRequest,
  effects: SideEffects,
  db: Queries,
  { resultWrites, last }: LaterWrites = {},
): ExternalContext {
  const { principal, requestId, record, reading } = request
  return {
    principal,
    scope: principal.scope,
    requestId,
    db,
    platform,
    idempotencyKey: record?.key ?? null,
    reading,
    threads,
    auditResource: resource => {
      effects.auditedResource = resource
    },
    notifyAfterCommit: (topic, id) => {
      effects.notifications.push({ topic, id })
    },
    dueAfterCommit: work => {
      effects.dueWork.push(work)
    },
    wakeAfterCommit: run => {
      effects.runsToWake.push(run)
    },
    deliverAfterCommit: link => {
      effects.linksToDeliver.push(link)
    },
    transact: work =>
      database.transaction(principal.scope, async tx => {
        await assertStillAllowed(tx, request)
        return work(tx)
      }),
    notifyNow: (topic, id) => bus.publish(topic, id),
    waitForRunChange: (runId, withinMs) => runChanges.wait(runId, withinMs),
    storeWithAnswer: write => {
      if (resultWrites === undefined)
        throw new TypeError('storeWithAnswer is for external operations only: write in the transaction of the context')
      resultWrites.push(write)
    },
    writeLast: write => {
      if (last === undefined) throw new TypeError('writeLast is for transactional operations only')
      last.push(write)
    },
  }
}

function clearSideEffects(effects: SideEffects): void {
  effects.auditedResource = null
  effects.notifications.length = 0
  effects.runsToWake.length = 0
  effects.linksToDeliver.length = 0
  effects.dueWork.length = 0
}
