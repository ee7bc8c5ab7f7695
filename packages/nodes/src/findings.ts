import type { EdgeSlot } from './parts/edge.ts'

export type NodeDiagnosticCode =
  | 'draft_malformed'
  | 'edge_dangling'
  | 'else_edge_missing'
  | 'action_unknown'
  | 'unsupported_capability'
  | 'field_ignored'
  | 'not_executed'

/** A change that resolves a finding about a node or an action (the part). */
export type PartFix<Part> =
  /** Replaces the part. */
  | { readonly fix: 'put'; readonly label: string; readonly part: Part }
  /** Removes the optional member at `path` of the part. */
  | { readonly fix: 'clear'; readonly label: string; readonly path: readonly (string | number)[] }
  /** Removes the part. */
  | { readonly fix: 'remove' }
  /** Adds an edge in an empty slot that leads to an end node. */
  | { readonly fix: 'add_edge_to_end'; readonly slot: EdgeSlot; readonly edgeId: string; readonly prompt: string }

/** A finding about a node or an action (the part); `path` is relative to the part. A draft with errors cannot be published. */
export interface PartFinding<Part> {
  readonly severity: 'error' | 'warning'
  readonly code: NodeDiagnosticCode
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly fixes: readonly PartFix<Part>[]
}

/** A warning that an import reads `field`, a member of the part, differently from how the export writes it. */
export interface ImportWarning {
  readonly code: 'field_ignored' | 'unsupported_capability'
  readonly field: string
  readonly message: string
}

/** A warning that the member at `path` has no effect yet; `instead` says what happens instead. Default fix: the optional member is left out. */
export function notExecuted(
  path: readonly (string | number)[],
  instead: string,
  fixes?: readonly PartFix<never>[],
): PartFinding<never> {
  const name = String(path.at(-1))
  return {
    severity: 'warning',
    code: 'not_executed',
    path,
    message: `"${name}" has no effect yet: ${instead}`,
    fixes: fixes ?? [{ fix: 'clear', label: `Leave "${name}" out`, path }],
  }
}

/** The same for a member that is not optional; `without` is the part with the member's neutral value. */
export function notExecutedUnless<Part>(path: readonly string[], instead: string, without: Part): PartFinding<Part> {
  const fix = { fix: 'put' as const, label: `Leave "${String(path.at(-1))}" out`, part: without }
  return { ...notExecuted(path, instead), fixes: [fix] }
}

interface MaySpeak {
  readonly instruction?: { readonly text: string } | null | undefined
  readonly speak_during_execution?: boolean | undefined
}

/** A warning about an instruction that is not said because the node does not speak. */
export function silentInstruction<Node extends MaySpeak>(node: Node): PartFinding<Node>[] {
  if (node.speak_during_execution === true || (node.instruction?.text ?? '').trim() === '') return []
  return [
    {
      ...notExecuted(['instruction'], 'speak_during_execution is false, so the node says nothing'),
      fixes: [
        { fix: 'put', label: 'Say it', part: { ...node, speak_during_execution: true } },
        { fix: 'put', label: 'Leave "instruction" out', part: { ...node, instruction: null } },
      ],
    },
  ]
}
