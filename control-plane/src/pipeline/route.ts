import { type Handler, minimumRole, type Operation, operations, type Role } from '@parley/contract'
import type { Queries } from '@parley/store'
import type { Context, Handlers } from '../context.ts'

/** What the handler of an `external` operation works with: no connection is held while it runs. */
export interface ExternalContext extends Context {
  /**
   * What the transaction that keeps the answer does as well; it may run more than once. When it throws, the answer is
   * `outcome_unknown`: what was asked outside cannot be taken back.
   */
  settle(work: (tx: Queries) => Promise<void>): void
}

/** An operation with its handler, and what follows from it for every request. */
export interface Route {
  readonly operation: Operation
  readonly handler: Handler<Operation, ExternalContext>
  /** `read`: changes nothing, so there is neither a record nor a transaction. */
  readonly kind: 'read' | Operation['kind']
  readonly needs: Role
  /** `code/reason` of every refusal that the operation declares, and `code/` of those without a reason. */
  readonly declared: ReadonlySet<string>
}

export function routeOf(operation: Operation, handler: Handler<Operation, ExternalContext>): Route {
  return {
    operation,
    handler,
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

const RANK: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2 }

export function mayCall(role: Role, { needs }: Pick<Route, 'needs'>): boolean {
  return RANK[role] >= RANK[needs]
}
