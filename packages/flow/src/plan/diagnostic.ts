import type { Diagnostic as DiagnosticInContract } from '@parley/contract'

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
  | 'model_not_ready'
  | 'voice_not_found'
  | 'trunk_not_found'
  | 'number_not_found'
  | 'secret_not_found'
  | 'unsupported_capability'
  | 'node_unreachable'
  | 'end_unreachable'
  | 'variable_undefined'
  | 'telephony_missing'
  | 'setting_unknown'
  | 'field_ignored'
  | 'knowledge_not_ready'

/** One finding about a draft: `path` is a JSON pointer into it; `message` says what is wrong and what mends it. */
export type Diagnostic = DiagnosticInContract & { readonly code: DiagnosticCode }
export type DiagnosticFix = NonNullable<Diagnostic['fixes']>[number]
