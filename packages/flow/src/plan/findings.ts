import { type Diagnostic, type DiagnosticCode, type FixEdit, jsonPointer } from './diagnostic.ts'
import type { DraftContent } from './draft.ts'
import type { EdgeSlot } from './edge.ts'
import type { FlowNode } from './node.ts'

const MAX_PATH = 1024
/** Of each severity, so that no number of warnings hides an error. */
const MAX_FINDINGS = 500

type Path = readonly (string | number)[]

interface Fix {
  readonly label: string
  readonly edits: FixEdit[]
}

/** A flow or component of a draft, and where it stands. */
export interface Scope {
  readonly componentId: string | null
  readonly path: Path
  readonly startNodeId: string | null
  readonly nodes: readonly FlowNode[]
}

export function scopesOf({ flow }: DraftContent): readonly Scope[] {
  return [
    { componentId: null, path: ['flow'], startNodeId: flow.start_node_id, nodes: flow.nodes },
    ...flow.components.map((component, index) => ({
      componentId: component.component_id,
      path: ['flow', 'components', index],
      startNodeId: component.start_node_id,
      nodes: component.nodes,
    })),
  ]
}

/** Collects diagnostics: errors first, then by path. */
export class Findings {
  readonly #list: Diagnostic[] = []
  readonly #count = { error: 0, warning: 0 }

  error(code: DiagnosticCode, path: Path, message: string, ...fixes: (Fix | undefined)[]): void {
    this.#add(code, 'error', path, message, fixes)
  }

  warning(code: DiagnosticCode, path: Path, message: string, ...fixes: (Fix | undefined)[]): void {
    this.#add(code, 'warning', path, message, fixes)
  }

  #add(
    code: DiagnosticCode,
    severity: 'error' | 'warning',
    path: Path,
    message: string,
    offered: readonly (Fix | undefined)[],
  ): void {
    if (++this.#count[severity] > MAX_FINDINGS) return
    const fixes = offered
      .filter(fix => fix !== undefined)
      .map((fix, index) => ({ ...fix, id: `${code}-${index + 1}`, label: fix.label.slice(0, 256) }))
    const pointer = jsonPointer(path).slice(0, MAX_PATH)
    this.#list.push({
      code,
      path: pointer,
      message: message.slice(0, 4096),
      severity,
      ...(fixes.length > 0 && { fixes }),
    })
  }

  sorted(): Diagnostic[] {
    return this.#list.toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  }
}

function rank(diagnostic: Diagnostic): number {
  return diagnostic.severity === 'error' ? 0 : 1
}

export function removeEdge(scope: Scope, node: FlowNode, edgeId: string): Fix {
  return {
    label: `Remove the edge "${edgeId}"`,
    edits: [{ type: 'flow.edge.remove', component_id: scope.componentId, node_id: node.id, edge_id: edgeId }],
  }
}

/** An edge in the slot that leads to the first end node; undefined where there is none. */
export function leadToEnd(
  scope: Scope,
  node: FlowNode,
  slot: EdgeSlot,
  edgeId: string,
  prompt: string,
): Fix | undefined {
  const end = scope.nodes.find(candidate => candidate.type === 'end')
  if (end === undefined) return undefined
  const edge = {
    id: edgeId,
    transition_condition: { type: 'prompt' as const, prompt },
    destination_node_id: end.id,
  }
  return {
    label: `Lead to "${end.name || end.id}"`,
    edits: [{ type: 'flow.edge.put', component_id: scope.componentId, node_id: node.id, slot, edge }],
  }
}
