import type { Edge, EdgeSlot } from './parts/edge.ts'

export type NodeDiagnosticCode =
  | 'draft_malformed'
  | 'edge_dangling'
  | 'else_edge_missing'
  | 'action_unknown'
  | 'unsupported_capability'
  | 'field_ignored'

/** A change that mends a finding about a node or an action (the part). */
export type PartFix<Part> =
  /** The part as it should be, in place of what it is. */
  | { readonly fix: 'put'; readonly label: string; readonly part: Part }
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
