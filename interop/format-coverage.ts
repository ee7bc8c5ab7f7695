import type { Plan } from '@parley/flow'
import type { Edge, FlowNode } from '@parley/flow/testing'
import { factsOf } from './call-evidence.ts'
import type { FinishedCall } from './conversation-harness.ts'

/** Node types and kinds of edges that calls went through, by their timelines. */
export class FormatCoverage {
  readonly #nodeTypes = new Set<FlowNode['type']>()
  readonly #ways = new Set<string>()

  note({ plan, report }: FinishedCall): void {
    for (const { node_id, from_node_id, edge_id, cause } of factsOf(report, 'node')) {
      this.#nodeTypes.add(nodeAt(plan, node_id).type)
      if (cause === 'global') this.#ways.add('global node')
      if (edge_id === null || from_node_id === null) continue
      this.#ways.add(wayOf(nodeAt(plan, from_node_id), edge_id))
    }
  }

  /** In alphabetical order. */
  get nodeTypes(): string[] {
    return [...this.#nodeTypes].toSorted()
  }

  /** Kinds of transitions between nodes, in alphabetical order. */
  get ways(): string[] {
    return [...this.#ways].toSorted()
  }
}

/** Nodes of components are named COMPONENT/NODE. */
function nodeAt({ flow }: Plan, address: string): FlowNode {
  const [component, inner] = address.split('/')
  const nodes =
    inner === undefined ? flow.nodes : (flow.components.find(one => one.component_id === component)?.nodes ?? [])
  const node = nodes.find(({ id }) => id === (inner ?? component))
  if (node === undefined) throw new Error(`the plan has no node ${address}`)
  return node
}

/** The kind of transition that `edgeId` is. */
function wayOf(node: FlowNode, edgeId: string): string {
  const conditional = 'edges' in node ? (node.edges as readonly Edge[]) : []
  const edge = conditional.find(({ id }) => id === edgeId)
  if (edge !== undefined) return `${edge.transition_condition.type} edge`
  const back = node.global_node_setting?.go_back_conditions.find(({ id }) => id === edgeId)
  if (back !== undefined) return `go back by ${back.transition_condition.type}`
  const slots = {
    always_edge: 'always edge',
    skip_response_edge: 'skip-response edge',
    else_edge: 'else edge',
    edge: 'failure edge',
  }
  for (const [slot, name] of Object.entries(slots)) {
    const found = (node as Partial<Record<string, unknown>>)[slot] as Edge | null | undefined
    if (found?.id === edgeId) return name
  }
  throw new Error(`${node.id} has no edge ${edgeId}`)
}
