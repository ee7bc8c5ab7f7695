import type { Diagnostic as DiagnosticInContract, DraftEdit } from '@parley/contract'

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

/** One finding about a draft: `path` is a JSON pointer into it; `message` says what is wrong and what mends it. */
export type Diagnostic = DiagnosticInContract & { code: DiagnosticCode }
export type DiagnosticFix = NonNullable<Diagnostic['fixes']>[number]
export type FixEdit = DraftEdit

/** RFC 6901. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
