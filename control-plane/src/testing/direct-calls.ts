import {
  type Operation,
  type OperationId,
  operations,
  parseInput,
  type RawInput,
  Refusal,
  type Role,
  type Scope,
} from '@parley/contract'
import type { Database, Topic } from '@parley/store'
import type { AuditedResource, ExternalContext, Handlers, Platform, WaitingRun } from '../context.ts'
import { allWritten, type LastWrite } from '../pipeline/last-writes.ts'
import { transactionOrRefusal } from '../pipeline/refusal-after-commit.ts'

/** The answer of a handler or the envelope of its refusal, and its side effects. */
export interface Called {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
  readonly auditedResource: AuditedResource | null
  readonly notifications: readonly { readonly topic: Topic; readonly id: string }[]
  readonly runsToWake: readonly WaitingRun[]
}

export interface DirectCalls {
  readonly database: Database
  readonly scope: Scope
  readonly handlers: Partial<Handlers>
  readonly platform: Platform
  /** Default: an API key. */
  readonly kind?: 'user' | 'api_key'
  /** Default: admin. */
  readonly role?: Role
  /** Default true. */
  readonly canDial?: boolean
}

interface RecordedEffects {
  auditedResource: AuditedResource | null
  readonly notifications: { topic: Topic; id: string }[]
  readonly runsToWake: WaitingRun[]
  readonly last: LastWrite[]
}

/** Calls a handler without the pipeline; the input and the answer are validated by the contract. */
export async function callDirectly(calls: DirectCalls, id: OperationId, raw: RawInput = {}): Promise<Called> {
  const operation: Operation = operations.find(candidate => candidate.id === id)!
  const parsed = parseInput(operation, { ...raw, idempotencyKey: keyOf(operation) })
  if (!parsed.ok) throw new Error(`the request is not valid: ${JSON.stringify(parsed.issues)}`)
  const handler = calls.handlers[id] as (
    input: unknown,
    context: ExternalContext,
  ) => Promise<{ status: number; body: unknown }>
  const effects: RecordedEffects = { auditedResource: null, notifications: [], runsToWake: [], last: [] }
  const context = (db: ExternalContext['db']) => contextOf(calls, db, effects, keyOf(operation) ?? null)
  try {
    const { database, scope } = calls
    const { status, body } =
      operation.hints.readOnly || operation.kind === 'external'
        ? await handler(parsed.input, context(database.within(scope)))
        : await transactionOrRefusal(
            database,
            scope,
            tx => handler(parsed.input, context(tx)),
            tx => allWritten(effects.last.map(one => one.write(tx))),
          )
    return { status, body: operation.output.parse(JSON.parse(JSON.stringify(body))), ...effects }
  } catch (thrown) {
    let error = thrown
    for (const one of effects.last) error = await one.explain(error, calls.database.within(calls.scope))
    if (!(error instanceof Refusal)) throw error
    const { code } = error.envelope.error
    const declared = operation.errors[code] as readonly string[] | undefined
    if (declared === undefined || (error.reason !== undefined && !declared.includes(error.reason)))
      throw new Error(`${id} refused with ${code}/${error.reason}, which its declaration does not list`, {
        cause: error,
      })
    return { status: 400, body: error.envelope, ...effects }
  }
}

function keyOf({ idempotencyKey }: Operation): string | undefined {
  return idempotencyKey === null ? undefined : 'of-a-test'
}

function contextOf(
  { database, scope, platform, kind = 'api_key', role = 'admin', canDial = true }: DirectCalls,
  db: ExternalContext['db'],
  effects: RecordedEffects,
  idempotencyKey: string | null,
): ExternalContext {
  const { owner_id, environment, tenant_id } = scope
  // The id of the environment serves as the id of the key: it is a UUID, and differs between environments.
  const ref = { owner_id, environment, kind, id: tenant_id }
  return {
    principal: { ref, role, canDial, scope, rate: null },
    scope,
    requestId: 'of-a-test',
    db,
    platform,
    idempotencyKey,
    dueAfterCommit: () => {},
    wakeAfterCommit: work => {
      effects.runsToWake.push(work)
    },
    transact: work => database.transaction(scope, work),
    storeWithAnswer: () => {},
    notifyNow: (topic, id) => {
      effects.notifications.push({ topic, id })
    },
    deliverAfterCommit: link => platform.links.deliver(link),
    waitForRunChange: (_, withinMs) => new Promise(resolve => setTimeout(resolve, Math.min(withinMs, 20))),
    auditResource: resource => {
      effects.auditedResource = resource
    },
    notifyAfterCommit: (topic, id) => {
      effects.notifications.push({ topic, id })
    },
    writeLast: write => {
      effects.last.push(write)
    },
  }
}
