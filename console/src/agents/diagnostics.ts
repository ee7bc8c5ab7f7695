import type { Diagnostic } from '@parley/client'
import type { DraftContent } from './flow-graph.ts'

/** The node that a diagnostic is about. */
export interface NodePlace {
  /** Null: the main flow. */
  readonly componentId: string | null
  readonly nodeId: string
}

/** The node to which the JSON pointer of a diagnostic leads; null: it is about the agent or the flow as a whole. */
export function placeOf(path: string, draft: Pick<DraftContent, 'flow'>): NodePlace | null {
  const component = /^\/flow\/components\/(\d+)\//.exec(path)
  const flow = component === null ? draft.flow : draft.flow.components[Number(component[1])]
  const index = /^\/flow\/(?:components\/\d+\/)?nodes\/(\d+)(?:\/|$)/.exec(path)
  const node = index === null ? undefined : flow?.nodes[Number(index[1])]
  if (node === undefined) return null
  return {
    componentId: component === null ? null : draft.flow.components[Number(component[1])]!.component_id,
    nodeId: node.id,
  }
}

export interface NodeProblems {
  readonly errors: number
  readonly warnings: number
}

/** The numbers of errors and warnings of each node of one flow. */
export function problemsByNode(
  diagnostics: readonly Diagnostic[],
  draft: Pick<DraftContent, 'flow'>,
  componentId: string | null,
): ReadonlyMap<string, NodeProblems> {
  const found = new Map<string, NodeProblems>()
  for (const { path, severity } of diagnostics) {
    const place = placeOf(path, draft)
    if (place === null || place.componentId !== componentId) continue
    const { errors, warnings } = found.get(place.nodeId) ?? { errors: 0, warnings: 0 }
    const isError = severity === 'error'
    found.set(place.nodeId, { errors: errors + (isError ? 1 : 0), warnings: warnings + (isError ? 0 : 1) })
  }
  return found
}
