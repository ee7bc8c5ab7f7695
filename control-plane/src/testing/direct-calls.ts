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
import type { AuditedResource, Context, Handlers, Platform } from '../context.ts'

/** What a handler answered, or the envelope of its refusal, and what it said besides. */
export interface Called {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
  readonly about: AuditedResource | null
  readonly announced: readonly { readonly topic: Topic; readonly id: string }[]
}

export interface DirectCalls {
  readonly database: Database
  readonly scope: Scope
  readonly handlers: Partial<Handlers>
  readonly platform: Platform
  /** Default: an API key. */
  readonly kind?: 'user' | 'api_key'
}

/** Calls handlers as requests do, without what stands around them: input and answers are held to the contract. */
export async function callDirectly(calls: DirectCalls, id: OperationId, raw: RawInput = {}): Promise<Called> {
  const operation: Operation = operations.find(candidate => candidate.id === id)!
  const parsed = parseInput(operation, { ...raw, idempotencyKey: operation.idempotencyKey ? 'of-a-test' : undefined })
  if (!parsed.ok) throw new Error(`not a request: ${JSON.stringify(parsed.issues)}`)
  const handler = calls.handlers[id] as (input: unknown, context: Context) => Promise<{ status: number; body: unknown }>
  const said: { about: AuditedResource | null; announced: { topic: Topic; id: string }[] } = {
    about: null,
    announced: [],
  }
  const context = (db: Context['db']): Context => contextOf(calls, db, said)
  try {
    const { database, scope } = calls
    const { status, body } = operation.hints.readOnly
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

function contextOf(
  { scope, platform, kind = 'api_key' }: DirectCalls,
  db: Context['db'],
  said: { about: AuditedResource | null; announced: { topic: Topic; id: string }[] },
): Context {
  const { owner_id, environment, tenant_id } = scope
  // The environment's own id serves as the key's: it is a UUID, and tells callers apart.
  const ref = { owner_id, environment, kind, id: tenant_id }
  return {
    principal: { ref, role: 'admin', canDial: true, scope, rate: null },
    scope,
    requestId: 'of-a-test',
    db,
    platform,
    about: resource => {
      said.about = resource
    },
    announce: (topic, id) => {
      said.announced.push({ topic, id })
    },
  }
}
