import { type Handler, minimumRole, type Operation, operations, type Role, streams } from '@parley/contract'
import type { AfterCommit, ExternalContext, Handlers, ReadingNeeds } from '../context.ts'

/** An operation with its handler, and what follows from it for every request. */
export interface Route<Served extends Operation = Operation> {
  readonly operation: Served
  readonly handler: Handler<Operation, ExternalContext>
  /** What follows the commit; null: nothing does. */
  readonly sequel: AfterCommit<Operation> | null
  /** What a thread that reads a large body needs; null: bodies are read where requests are. */
  readonly readingNeeds: ReadingNeeds | null
  /** `read`: changes nothing, so there is neither a record nor a transaction. */
  readonly kind: 'read' | Operation['kind']
  readonly needs: Role
  /** `code/reason` of every refusal that the operation declares, and `code/` of those without a reason. */
  readonly declared: ReadonlySet<string>
}

export function routeOf<Served extends Operation>(
  operation: Served,
  handler: Handler<Operation, ExternalContext> & {
    readonly sequel?: AfterCommit<Operation>
    readonly readingNeeds?: ReadingNeeds
  },
): Route<Served> {
  return {
    operation,
    handler,
    sequel: handler.sequel ?? null,
    readingNeeds: handler.readingNeeds ?? null,
    kind: operation.hints.readOnly ? 'read' : operation.kind,
    needs: minimumRole(operation),
    declared: new Set(
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
    // Each handler takes what its own operation's parser gives, and gets nothing else.
    routeOf(operation, handlers[operation.id as keyof Handlers] as unknown as Route['handler']),
  )
}

/** Of runs that are followed: it has no one answer, so its handler has none to give. */
export const eventsRoute = routeOf(streams[0], () => Promise.reject(new TypeError('a stream is no answer')))

const RANK: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2 }

export function mayCall(role: Role, { needs }: Pick<Route, 'needs'>): boolean {
  return RANK[role] >= RANK[needs]
}
