import type { FlowNode } from '@parley/nodes'
import type { DraftContent } from './draft.ts'

export type Path = readonly (string | number)[]

/** A flow or component of a draft and its path. */
export interface Scope {
  readonly componentId: string | null
  readonly path: Path
  readonly startNodeId: string | null
  readonly nodes: readonly FlowNode[]
  readonly ids: ReadonlySet<string>
  /** Whether the component's id is unique, so that edits that name it reach this one. */
  readonly isAddressable: boolean
  /** Node ids that occur more than once. */
  readonly duplicateIds: ReadonlySet<string>
}

export function scopesOf({ flow }: DraftContent): readonly Scope[] {
  const duplicates = repeatedIds(flow.components.map(component => component.component_id))
  return [
    {
      componentId: null,
      path: ['flow'],
      startNodeId: flow.start_node_id,
      nodes: flow.nodes,
      isAddressable: true,
      ...idsOf(flow.nodes),
    },
    ...flow.components.map((component, index) => ({
      componentId: component.component_id,
      path: ['flow', 'components', index],
      startNodeId: component.start_node_id,
      nodes: component.nodes,
      isAddressable: !duplicates.has(component.component_id),
      ...idsOf(component.nodes),
    })),
  ]
}

function idsOf(nodes: readonly FlowNode[]): Pick<Scope, 'ids' | 'duplicateIds'> {
  const ids = nodes.map(node => node.id)
  return { ids: new Set(ids), duplicateIds: repeatedIds(ids) }
}

/** Ids that occur more than once. */
function repeatedIds(ids: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const id of ids) (seen.has(id) ? twice : seen).add(id)
  return twice
}
