import type { Plan } from '@parley/flow'

/** What is searched for the turns of a node. */
export interface NodeKnowledge {
  /** Null: all documents of the environment. */
  readonly documentIds: readonly string[] | null
  readonly topK: number
  readonly minScore: number
}

/** Passages of a turn in a node with documents of its own, where the agent has none. */
const DEFAULT_TOP_K = 3

/**
 * The knowledge of a node, by its address: that of the agent, or with `knowledge_base_ids` of these documents. Null: nothing is
 * searched, as in a node whose `knowledge_base_ids` are empty.
 */
export function nodeKnowledge(
  { knowledge, flow }: Pick<Plan, 'knowledge' | 'flow'>,
  address: string,
): NodeKnowledge | null {
  const own = documentsOf(flow, address)
  if (own !== null && own.length === 0) return null
  if (own === null && knowledge === null) return null
  return {
    documentIds: own ?? knowledge?.document_ids ?? null,
    topK: knowledge?.top_k ?? DEFAULT_TOP_K,
    minScore: knowledge?.min_score ?? 0,
  }
}

/** Whether a search can be needed anywhere in the plan. */
export function usesKnowledge({ knowledge, flow }: Pick<Plan, 'knowledge' | 'flow'>): boolean {
  const nodes = [...flow.nodes, ...flow.components.flatMap(component => component.nodes)]
  return (
    knowledge !== null || nodes.some(node => 'knowledge_base_ids' in node && (node.knowledge_base_ids?.length ?? 0) > 0)
  )
}

/** Ids that the node names; null: it leaves that to the agent. */
function documentsOf(flow: Plan['flow'], address: string): readonly string[] | null {
  const [nodeId, componentId] = address.split('/').reverse()
  const nodes =
    componentId === undefined
      ? flow.nodes
      : (flow.components.find(component => component.component_id === componentId)?.nodes ?? [])
  const node = nodes.find(({ id }) => id === nodeId)
  return node !== undefined && 'knowledge_base_ids' in node ? (node.knowledge_base_ids ?? null) : null
}
