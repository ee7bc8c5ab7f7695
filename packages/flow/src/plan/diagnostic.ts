import type { Diagnostic as DiagnosticInContract } from '@parley/contract'
import type { NodeDiagnosticCode } from '@parley/nodes'

export type DiagnosticCode =
  | NodeDiagnosticCode
  | 'setting_invalid'
  | 'action_invalid'
  | 'flow_empty'
  | 'start_node_missing'
  | 'node_unknown'
  | 'component_unknown'
  | 'component_recursive'
  | 'duplicate_id'
  | 'inbound_action_invalid'
  | 'language_unsupported'
  | 'model_not_ready'
  | 'voice_not_found'
  | 'trunk_not_found'
  | 'number_not_found'
  | 'secret_not_found'
  | 'node_unreachable'
  | 'end_unreachable'
  | 'variable_undefined'
  | 'telephony_missing'
  | 'setting_unknown'
  | 'knowledge_not_ready'

/** One finding about a draft: `path` is a JSON pointer into it; `message` says what is wrong and what to do. */
export type Diagnostic = DiagnosticInContract & { readonly code: DiagnosticCode }
