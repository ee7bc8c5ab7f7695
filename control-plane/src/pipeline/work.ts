import { type InputOf, type Operation, Refusal } from '@parley/contract'
import { ParleyError } from '@parley/kernel'
import type { Database, Queries, Topic } from '@parley/store'
import type { AuditedResource, Platform, Principal } from '../context.ts'
import { type Finished, finished, replayed } from './answer.ts'
import type { AuditOutcome, Claimed, RecordedRequest, Records } from './records.ts'
import type { ExternalContext, Route } from './route.ts'

/** One request, parsed, whose sender may make it. */
export interface Work {
  readonly route: Route
  readonly input: InputOf<Operation>
  readonly principal: Principal
  readonly requestId: string
  /** Null where the operation keeps no record. */
  readonly record: RecordedRequest | null
}

/** What the handler said besides its answer. */
export interface Said {
  about: AuditedResource | null
  readonly announced: { readonly topic: Topic; readonly id: string }[]
}

export interface Outcome {
  readonly answer: Finished
  readonly isReplay: boolean
}

export interface Workshop {
  readonly database: Pick<Database, 'within' | 'transaction'>
  readonly records: Records
  readonly platform: Platform
  /** For how long an `external` operation owns its record. */
  readonly leaseMs: number
}

/** Runs the handler as its operation's kind demands. What it `said` is filled in, and remains when this throws. */
export function run(shop: Workshop, work: Work, said: Said): Promise<Outcome> {
  if (work.route.kind === 'read') return read(shop, work, said)
  return work.route.kind === 'transactional' ? transact(shop, work, said) : reachOut(shop, work, said)
}

async function read(shop: Workshop, work: Work, said: Said): Promise<Outcome> {
  const context = contextOf(shop, work, said, shop.database.within(work.principal.scope))
  return { answer: finished(work.route, await work.route.handler(work.input, context)), isReplay: false }
}

/** Claim, change, audit item and kept answer in one transaction: all of them or nothing. */
function transact(shop: Workshop, work: Work, said: Said): Promise<Outcome> {
  const { records } = shop
  const { record, route } = work
  return shop.database.transaction(work.principal.scope, async tx => {
    // The transaction may run again: nothing that was said before it was rolled back holds.
    forget(said)
    const kept = record === null ? null : await keptAnswer(records.claim(tx, record))
    if (kept !== null) return { answer: replayed(kept), isReplay: true }
    const answer = finished(route, await route.handler(work.input, contextOf(shop, work, said, tx)))
    await Promise.all([
      records.audit(tx, auditItem(work, said, 'allowed')),
      record === null ? undefined : records.keep(tx, record, answer),
    ])
    return { answer, isReplay: false }
  })
}

/** The intent is committed before anything outside is asked, the result afterwards; between them no connection is held. */
async function reachOut(shop: Workshop, work: Work, said: Said): Promise<Outcome> {
  const { database, records, leaseMs } = shop
  const { record, route } = work
  const { scope } = work.principal
  const kept =
    record === null ? null : await database.transaction(scope, tx => keptAnswer(records.lease(tx, record, leaseMs)))
  if (kept !== null) return { answer: replayed(kept), isReplay: true }

  const settling: ((tx: Queries) => Promise<void>)[] = []
  const context = contextOf(shop, work, said, database.within(scope), settling)
  let answer: Finished
  try {
    answer = finished(route, await route.handler(work.input, context))
  } catch (error) {
    if (!(error instanceof Refusal)) throw unknown(error)
    // It said no, so nothing happened outside: the key is free again.
    if (record !== null)
      await database
        .transaction(scope, tx => records.release(tx, record))
        .catch(cause => {
          throw unknown(cause)
        })
    throw error
  }
  try {
    await database.transaction(scope, async tx => {
      for (const settle of settling) await settle(tx)
      await records.audit(tx, auditItem(work, said, 'allowed'))
      if (record !== null) await records.keepLeased(tx, record, answer)
    })
  } catch (error) {
    throw unknown(error)
  }
  return { answer, isReplay: false }
}

function unknown(cause: unknown): ParleyError {
  return new ParleyError('outcome_unknown', 'it is not known what came of what was asked outside', { cause })
}

async function keptAnswer(claiming: Promise<Claimed>): Promise<Finished | null> {
  const claimed = await claiming
  switch (claimed.kind) {
    case 'ours':
      return null
    case 'kept':
      return claimed.answer
    case 'conflict':
      throw new Refusal('idempotency_conflict', 'this Idempotency-Key was used for another request: use a new one')
    case 'in_progress':
      throw new Refusal('conflict', 'the first request with this Idempotency-Key still runs: repeat it in a moment', {
        reason: 'in_progress',
      })
    case 'expired':
      throw unknown(undefined)
  }
}

function contextOf(
  { platform }: Workshop,
  { principal, requestId }: Work,
  said: Said,
  db: Queries,
  settling?: ((tx: Queries) => Promise<void>)[],
): ExternalContext {
  return {
    principal,
    scope: principal.scope,
    requestId,
    db,
    platform,
    about: resource => {
      said.about = resource
    },
    announce: (topic, id) => {
      said.announced.push({ topic, id })
    },
    settle: later => {
      if (settling === undefined) throw new TypeError('only external operations settle: use the transaction at hand')
      settling.push(later)
    },
  }
}

function forget(said: Said): void {
  said.about = null
  said.announced.length = 0
}

export function auditItem(work: Pick<Work, 'route' | 'principal' | 'requestId'>, said: Said, outcome: AuditOutcome) {
  return {
    scope: work.principal.scope,
    principal: work.principal.ref,
    action: work.route.operation.id,
    resource: said.about,
    outcome,
    requestId: work.requestId,
  }
}
