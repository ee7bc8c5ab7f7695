import type { Operation } from '@parley/contract'
import type { OperationRoute } from './operation-route.ts'

/** The route of an operation: the properties that a client needs. */
export function deriveRoute(operation: Operation): OperationRoute {
  const { id, method, path, idempotency, hints } = operation
  return {
    id,
    method,
    path,
    keyed: idempotency === 'required_header',
    repeatable: idempotency !== 'none' || hints.readOnly,
    takesQuery: operation.query !== null,
    takesBody: operation.body !== null,
    rows: rowsOf(operation),
  }
}

/**
 * The member of a page with its rows: `items`, or `agents` for the list of agents, or `rows` for usage; null: no page.
 */
function rowsOf({ query, output }: Operation): string | null {
  const takesCursor = query !== null && 'cursor' in query.shape
  const members = 'shape' in output && typeof output.shape === 'object' && output.shape !== null ? output.shape : {}
  if (!takesCursor || !('next_cursor' in members)) return null
  return ['items', 'agents', 'rows'].find(name => name in members) ?? null
}
