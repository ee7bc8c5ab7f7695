import { type InputOf, type Operation, Refusal, type Status } from '@parley/contract'
import { ParleyError } from '@parley/kernel'
import {
  type Bus,
  claim,
  type Database,
  dropIntent,
  type IdempotentRequest,
  type IntentLease,
  keepAnswer,
  keepIntent,
  type Queries,
  settleIntent,
  type Topic,
  writeAudit,
} from '@parley/store'
import type { AuditedResource, ExternalContext, Platform, Principal, WaitingWork } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { Reading } from '../reading/read-task.ts'
import type { ReadingThreads } from '../reading/reading-threads.ts'
import { type Finished, finished, replayed } from './answer.ts'
import { type Offload, withOffloading } from './offload.ts'
import type { Route } from './route.ts'
import type { RunChanges } from './run-changes.ts'

/** One request, parsed, whose sender may make it. */
export interface Work {
  readonly route: Route
  readonly input: InputOf<Operation>
  readonly principal: Principal
  readonly requestId: string
  /** What a thread has read in the body; undefined where the input is whole. */
  readonly reading?: Reading | undefined
  /** What the record of the request is kept under; null where none is kept. */
  readonly record: IdempotentRequest | null
}

/** What the handler said besides its answer. */
export interface SideEffects {
  about: AuditedResource | null
  readonly announced: { readonly topic: Topic; readonly id: string }[]
  readonly woken: WaitingWork[]
}

/** Nothing yet. */
export function noSideEffects(): SideEffects {
  return { about: null, announced: [], woken: [] }
}

export interface PipelineDependencies {
  readonly database: Pick<Database, 'within' | 'transaction'>
  readonly platform: Platform
  readonly bus: Pick<Bus, 'publish'>
  readonly news: RunChanges
  readonly threads: ReadingThreads
  /** For how long an `external` operation owns its record. */
  readonly leaseMs: number
}

type Settling = (tx: Queries) => Promise<void>

/**
 * Runs the handler as its operation's kind demands and answers what the caller gets: a replay is the answer that was
 * kept. What the handler `said` is filled in, and remains when this throws.
 */
export function run(shop: PipelineDependencies, work: Work, said: SideEffects): Promise<Finished> {
  if (work.route.kind === 'read') return read(shop, work, said)
  return work.route.kind === 'transactional' ? transact(shop, work, said) : reachOut(shop, work, said)
}

async function read(shop: PipelineDependencies, work: Work, said: SideEffects): Promise<Finished> {
  const { route, principal } = work
  const db = shop.database.within(principal.scope)
  const answer = finished(route, await route.handler(work.input, contextOf(shop, work, said, db)))
  // Who has read it stands written before it is given.
  if (route.operation.auditsReads)
    await shop.database.transaction(principal.scope, tx => audit(tx, work, said, 'allowed'))
  return answer
}

/** What the answer has become since its commit: the answer as it was kept where nothing follows, or it cannot be seen. */
export async function afterCommit(
  shop: PipelineDependencies,
  { route, principal }: Work,
  kept: Finished,
): Promise<Finished> {
  if (route.sequel === null) return kept
  const { scope } = principal
  const answer = { status: kept.status as Status, body: JSON.parse(kept.text) }
  const context = {
    scope,
    db: shop.database.within(scope),
    now: shop.platform.now,
    news: (runId: string, withinMs: number) => shop.news.wait(runId, withinMs),
  }
  try {
    return finished(route, await route.sequel(answer, context))
  } catch {
    return kept
  }
}

/** Claim, change, audit item and kept answer in one transaction: all of them or nothing. */
function transact(shop: PipelineDependencies, work: Work, said: SideEffects): Promise<Finished> {
  const { record, route } = work
  const { scope } = work.principal
  const { sealer } = shop.platform
  const attempt = (aside: Offload) => async (tx: Queries) => {
    // The transaction may run again: what was said before it was rolled back does not hold.
    forget(said)
    const kept = record === null ? null : await keptAnswer(shop, work, tx, record)
    if (kept !== null) return kept
    const answer = finished(route, await route.handler(work.input, { ...contextOf(shop, work, said, tx), aside }))
    // Sent together: they need nothing of each other.
    await Promise.all([
      audit(tx, work, said, 'allowed'),
      record === null ? undefined : keepAnswer(tx, scope, sealer, record, { status: answer.status, body: answer.text }),
    ])
    return answer
  }
  return withOffloading(aside => shop.database.transaction(scope, attempt(aside)))
}

/** The intent is committed before anything outside is asked, the result afterwards; between them no connection is held. */
async function reachOut(shop: PipelineDependencies, work: Work, said: SideEffects): Promise<Finished> {
  const { record, route } = work
  const { scope } = work.principal
  const begun = record === null ? null : await shop.database.transaction(scope, tx => begin(shop, work, tx, record))
  if (begun !== null && 'text' in begun) return begun

  const settling: Settling[] = []
  const db = shop.database.within(scope)
  try {
    const answer = finished(route, await route.handler(work.input, contextOf(shop, work, said, db, settling)))
    await settle(shop, work, said, { answer, lease: begun, settling })
    return answer
  } catch (error) {
    // Whoever refuses did nothing outside: the key is free again.
    const isRefusal = error instanceof Refusal
    if (!isRefusal && !route.operation.resumable) throw unknown(error)
    // A resumable one knows its own repetition: the key is free for it.
    if (record !== null && begun !== null) await release(shop, work, record, begun)
    throw isRefusal ? error : unknown(error)
  }
}

async function begin(shop: PipelineDependencies, work: Work, tx: Queries, record: IdempotentRequest) {
  const kept = await keptAnswer(shop, work, tx, record)
  return kept ?? keepIntent(tx, work.principal.scope, record, { request_id: work.requestId }, shop.leaseMs)
}

interface Result {
  readonly answer: Finished
  readonly lease: IntentLease | null
  readonly settling: readonly Settling[]
}

async function settle(
  shop: PipelineDependencies,
  work: Work,
  said: SideEffects,
  { answer, lease, settling }: Result,
): Promise<void> {
  const { scope } = work.principal
  const { sealer } = shop.platform
  try {
    await shop.database.transaction(scope, async tx => {
      for (const finish of settling) await finish(tx)
      await audit(tx, work, said, 'allowed')
      if (work.record === null || lease === null) return
      const kept = { status: answer.status, body: answer.text }
      if (await settleIntent(tx, scope, sealer, work.record, lease, kept)) return
      throw new ApiError('lease_lost', 'the request ran longer than its lease')
    })
  } catch (error) {
    throw unknown(error)
  }
}

async function release(
  shop: PipelineDependencies,
  work: Work,
  record: IdempotentRequest,
  lease: IntentLease,
): Promise<void> {
  const { scope } = work.principal
  try {
    await shop.database.transaction(scope, tx => dropIntent(tx, scope, record, lease))
  } catch (error) {
    throw unknown(error)
  }
}

function unknown(cause: unknown): ParleyError {
  if (cause instanceof ParleyError && cause.code === 'outcome_unknown') return cause
  return new ApiError('outcome_unknown', 'it is not known what came of what was asked outside', { cause })
}

/** Claims the record for this transaction; the kept answer, as a replay shows it, where there is one. */
async function keptAnswer(
  { platform }: PipelineDependencies,
  { principal, route }: Work,
  tx: Queries,
  record: IdempotentRequest,
): Promise<Finished | null> {
  const claimed = await claim(tx, principal.scope, platform.sealer, record)
  switch (claimed.state) {
    case 'fresh':
      return null
    case 'replay':
      return replayed(claimed.status, claimed.body)
    case 'conflict':
      throw new Refusal('idempotency_conflict', 'this Idempotency-Key was used for another request: use a new one')
    case 'in_progress':
      throw new Refusal('conflict', 'the first request with this Idempotency-Key still runs: repeat it in a moment', {
        reason: 'in_progress',
      })
    case 'lapsed':
      if (route.operation.resumable) return null
      // Nothing of what its owner asked outside was written down that could be looked up.
      throw unknown(undefined)
  }
}

/** Writes who did this, in the transaction at hand. */
export function audit(
  tx: Queries,
  work: Pick<Work, 'route' | 'principal' | 'requestId'>,
  said: SideEffects,
  outcome: 'allowed' | 'denied' | 'failed',
): Promise<void> {
  const { route, principal, requestId } = work
  return writeAudit(tx, principal.scope, {
    principal: principal.ref,
    action: route.operation.id,
    resource: said.about,
    outcome,
    request_id: requestId,
  })
}

function contextOf(
  { platform, database, bus, news, threads }: PipelineDependencies,
  { principal, requestId, record, reading }: Work,
  said: SideEffects,
  db: Queries,
  settling?: Settling[],
): ExternalContext {
  return {
    principal,
    scope: principal.scope,
    requestId,
    db,
    platform,
    idempotencyKey: record?.key ?? null,
    reading,
    threads,
    about: resource => {
      said.about = resource
    },
    announce: (topic, id) => {
      said.announced.push({ topic, id })
    },
    wake: work => {
      said.woken.push(work)
    },
    transact: work => database.transaction(principal.scope, work),
    publish: (topic, id) => bus.publish(topic, id),
    news: (runId, withinMs) => news.wait(runId, withinMs),
    settle: later => {
      if (settling === undefined) throw new TypeError('only external operations settle: use the transaction at hand')
      settling.push(later)
    },
  }
}

function forget(said: SideEffects): void {
  said.about = null
  said.announced.length = 0
  said.woken.length = 0
}
