import type { Edge, EdgeSlot } from './parts/edge.ts'

export type NodeDiagnosticCode =
  | 'draft_malformed'
  | 'edge_dangling'
  | 'else_edge_missing'
  | 'action_unknown'
  | 'unsupported_capability'
  | 'field_ignored'
  | 'not_executed'

/** A change that mends a finding about a node or an action (the part). */
export type PartFix<Part> =
  /** The part as it should be, in place of what it is. */
  | { readonly fix: 'put'; readonly label: string; readonly part: Part }
  /** Leaves out the optional member at `path` of the part. */
  | { readonly fix: 'clear'; readonly label: string; readonly path: readonly (string | number)[] }
  | { readonly fix: 'remove' }
  /** Removes the edge, or the node where it cannot be without this edge. */
  | { readonly fix: 'remove_edge'; readonly edge: Edge }
  /** Adds an edge in an empty slot that leads to an end node. */
  | { readonly fix: 'add_edge_to_end'; readonly slot: EdgeSlot; readonly edgeId: string; readonly prompt: string }

/** A finding about a node or an action; `path` is relative to it. An error keeps the draft from being published. */
export interface PartFinding<Part> {
  readonly severity: 'error' | 'warning'
  readonly code: NodeDiagnosticCode
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly fixes: readonly PartFix<Part>[]
}

/** A member of an export that is read in another way than it is written; `field` is a member of the part. */
export interface ImportWarning {
  readonly code: 'field_ignored' | 'unsupported_capability'
  readonly field: string
  readonly message: string
}

/** Warns that nothing reads the optional member at `path` yet. `instead`: what happens instead. */
export function notExecuted(path: readonly (string | number)[], instead: string): PartFinding<never> {
  const name = String(path.at(-1))
  return {
    severity: 'warning',
    code: 'not_executed',
    path,
    message: `"${name}" has no effect yet: ${instead}`,
    fixes: [{ fix: 'clear', label: `Leave "${name}" out`, path }],
  }
}

/** Warns that nothing reads the member at `path` yet. `without`: the part with the value of the member that changes nothing. */
export function notExecutedUnless<Part>(path: readonly string[], instead: string, without: Part): PartFinding<Part> {
  const fix = { fix: 'put' as const, label: `Leave "${String(path.at(-1))}" out`, part: without }
  return { ...notExecuted(path, instead), fixes: [fix] }
}
