import { type Handler, minimumRole, type Operation, operations, type Role, streams } from '@parley/contract'
import type { AfterCommit, ExternalContext, FirstReads, Handlers, ReadingNeeds } from '../context.ts'

/** An operation with its handler and the properties derived from both. */
export interface Route<Served extends Operation = Operation> {
  readonly operation: Served
  readonly handler: Handler<Operation, ExternalContext>
  /** A step after the commit that completes the answer; null: none. */
  readonly afterCommit: AfterCommit<Operation> | null
  /** Begins reads that travel with the check of credentials and idempotency record; null: none. */
  readonly firstReads: FirstReads<Operation, ExternalContext> | null
  /** Reads the data that a worker thread needs to parse a large body; null: bodies are parsed on the main thread. */
  readonly readingNeeds: ReadingNeeds | null
  /** `read`: changes nothing, so it needs no idempotency record and no transaction. */
  readonly kind: 'read' | Operation['kind']
  readonly minimumRole: Role
  /** `code/reason` of every refusal that the operation declares, and `code/` of those without a reason. */
  readonly declaredRefusals: ReadonlySet<string>
}

export function routeOf<Served extends Operation>(
  operation: Served,
  handler: Handler<Operation, ExternalContext> & {
    readonly afterCommit?: AfterCommit<Operation>
    readonly firstReads?: FirstReads<Operation, ExternalContext>
    readonly readingNeeds?: ReadingNeeds
  },
): Route<Served> {
  return {
    operation,
    handler,
    afterCommit: handler.afterCommit ?? null,
    firstReads: handler.firstReads ?? null,
    readingNeeds: handler.readingNeeds ?? null,
    kind: operation.hints.readOnly ? 'read' : operation.kind,
    minimumRole: minimumRole(operation),
    declaredRefusals: new Set(
      Object.entries(operation.errors).flatMap(([code, reasons]) => [
        `${code}/`,
        ...reasons.map(reason => `${code}/${reason}`),
      ]),
    ),
  }
}

/** Every operation with its handler. */
export function routesOf(handlers: Handlers): Route[] {
  const all: readonly Operation[] = operations
  return all.map(operation =>
    // Each handler gets the input that the parser of its own operation made.
    routeOf(operation, handlers[operation.id as keyof Handlers] as unknown as Route['handler']),
  )
}

/** The route of the event stream of a run, which `serveEvents` serves: its handler is never called. */
export const eventsRoute = routeOf(streams[0], () =>
  Promise.reject(new TypeError('runs.events is a stream: serveEvents serves it')),
)

const RANK: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2 }

export function mayCall(role: Role, { minimumRole: needed }: Pick<Route, 'minimumRole'>): boolean {
  return RANK[role] >= RANK[needed]
}
