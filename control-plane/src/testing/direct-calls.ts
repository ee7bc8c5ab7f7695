import {
  type Operation,
  type OperationId,
  operations,
  parseInput,
  type RawInput,
  Refusal,
  type Scope,
} from '@parley/contract'
import type { Database, Topic } from '@parley/store'
import type { AuditedResource, ExternalContext, Handlers, Platform, WaitingWork } from '../context.ts'

/** What a handler answered, or the envelope of its refusal, and what it said besides. */
export interface Called {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
  readonly about: AuditedResource | null
  readonly announced: readonly { readonly topic: Topic; readonly id: string }[]
  readonly woken: readonly WaitingWork[]
}

export interface DirectCalls {
  readonly database: Database
  readonly scope: Scope
  readonly handlers: Partial<Handlers>
  readonly platform: Platform
  /** Default: an API key. */
  readonly kind?: 'user' | 'api_key'
  /** Default true. */
  readonly canDial?: boolean
}

interface SaidHere {
  about: AuditedResource | null
  readonly announced: { topic: Topic; id: string }[]
  readonly woken: WaitingWork[]
}

/** Calls handlers as requests do, without what stands around them: input and answers are held to the contract. */
export async function callDirectly(calls: DirectCalls, id: OperationId, raw: RawInput = {}): Promise<Called> {
  const operation: Operation = operations.find(candidate => candidate.id === id)!
  const parsed = parseInput(operation, { ...raw, idempotencyKey: keyOf(operation) })
  if (!parsed.ok) throw new Error(`not a request: ${JSON.stringify(parsed.issues)}`)
  const handler = calls.handlers[id] as (
    input: unknown,
    context: ExternalContext,
  ) => Promise<{ status: number; body: unknown }>
  const said: SaidHere = { about: null, announced: [], woken: [] }
  const context = (db: ExternalContext['db']) => contextOf(calls, db, said, keyOf(operation) ?? null)
  try {
    const { database, scope } = calls
    const { status, body } =
      operation.hints.readOnly || operation.kind === 'external'
        ? await handler(parsed.input, context(database.within(scope)))
        : await database.transaction(scope, tx => handler(parsed.input, context(tx)))
    return { status, body: operation.output.parse(JSON.parse(JSON.stringify(body))), ...said }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { code } = error.envelope.error
    const declared = operation.errors[code] as readonly string[] | undefined
    if (declared === undefined || (error.reason !== undefined && !declared.includes(error.reason)))
      throw new Error(`${id} does not say that it refuses with ${code}, ${error.reason}`, { cause: error })
    return { status: 400, body: error.envelope, ...said }
  }
}

function keyOf({ idempotencyKey }: Operation): string | undefined {
  return idempotencyKey === null ? undefined : 'of-a-test'
}

function contextOf(
  { database, scope, platform, kind = 'api_key', canDial = true }: DirectCalls,
  db: ExternalContext['db'],
  said: SaidHere,
  idempotencyKey: string | null,
): ExternalContext {
  const { owner_id, environment, tenant_id } = scope
  // The environment's own id serves as the key's: it is a UUID, and tells callers apart.
  const ref = { owner_id, environment, kind, id: tenant_id }
  return {
    principal: { ref, role: 'admin', canDial, scope, rate: null },
    scope,
    requestId: 'of-a-test',
    db,
    platform,
    idempotencyKey,
    wake: work => {
      said.woken.push(work)
    },
    transact: work => database.transaction(scope, work),
    settle: () => {},
    publish: (topic, id) => {
      said.announced.push({ topic, id })
    },
    news: (_, withinMs) => new Promise(resolve => setTimeout(resolve, Math.min(withinMs, 20))),
    about: resource => {
      said.about = resource
    },
    announce: (topic, id) => {
      said.announced.push({ topic, id })
    },
  }
}
