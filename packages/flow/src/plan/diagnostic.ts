import type { Edge } from './edge.ts'

/** Draft edits that fixes are made of (a part of what a draft takes). */
export type FixEdit =
  | { readonly type: 'flow.start'; readonly component_id: string | null; readonly node_id: string }
  | { readonly type: 'flow.node.remove'; readonly component_id: string | null; readonly node_id: string }
  | {
      readonly type: 'flow.edge.put'
      readonly component_id: string | null
      readonly node_id: string
      readonly slot: EdgeSlot
      readonly edge: Edge
    }
  | {
      readonly type: 'flow.edge.remove'
      readonly component_id: string | null
      readonly node_id: string
      readonly edge_id: string
    }
  | { readonly type: 'flow.variables'; readonly values: Readonly<Record<string, string>> }
  | { readonly type: 'phone.inbound_context'; readonly value: null }

export type EdgeSlot = 'edges' | 'always_edge' | 'skip_response_edge' | 'else_edge' | 'edge'

export type DiagnosticCode =
  | 'draft_malformed'
  | 'setting_invalid'
  | 'action_invalid'
  | 'flow_empty'
  | 'start_node_missing'
  | 'edge_dangling'
  | 'node_unknown'
  | 'component_unknown'
  | 'component_recursive'
  | 'else_edge_missing'
  | 'duplicate_id'
  | 'action_unknown'
  | 'inbound_action_invalid'
  | 'language_unsupported'
  | 'unsupported_capability'
  | 'node_unreachable'
  | 'end_unreachable'
  | 'variable_undefined'
  | 'telephony_missing'
  | 'setting_unknown'
  | 'field_ignored'

export interface DiagnosticFix {
  readonly id: string
  readonly label: string
  readonly edits: readonly FixEdit[]
}

/** One finding about a draft: `path` is a JSON pointer into it; `message` says what is wrong and what mends it. */
export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly path: string
  readonly message: string
  readonly severity: 'error' | 'warning'
  readonly fixes?: readonly DiagnosticFix[]
}

/** RFC 6901. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
