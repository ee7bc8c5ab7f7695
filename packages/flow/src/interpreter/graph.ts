import { type Action, type Edge, type EffectAction, type FlowNode, isEffectAction, ownActionOf } from '@parley/nodes'
import type { GlobalNodeSetting } from '../plan/node.ts'
import type { Plan } from '../plan/plan.ts'

/** A node with the address it has outside the plan: `node_id`, inside a component `component_id/node_id`. */
export interface PlacedNode {
  readonly address: string
  /** Component id; null in the main flow. */
  readonly scope: string | null
  readonly node: FlowNode
}

interface GlobalNode extends PlacedNode {
  readonly setting: GlobalNodeSetting
}

/** Index of a plan: its nodes by address, its global nodes by scope, its actions by id. */
export class FlowGraph {
  readonly plan: Plan
  readonly #nodes = new Map<string, PlacedNode>()
  readonly #globals = new Map<string | null, GlobalNode[]>()
  readonly #starts = new Map<string | null, string | null>()
  readonly #actions = new Map<string, Action>()
  readonly #ownActions = new Map<string, EffectAction>()

  constructor(plan: Plan) {
    this.plan = plan
    this.#place(null, plan.flow.nodes, plan.flow.start_node_id)
    for (const component of plan.flow.components)
      this.#place(component.component_id, component.nodes, component.start_node_id)
    for (const action of plan.actions) this.#actions.set(action.action_id, action)
  }

  #place(scope: string | null, nodes: readonly FlowNode[], start: string | null): void {
    const globals: GlobalNode[] = []
    for (const node of nodes) {
      const placed = { address: addressOf(scope, node.id), scope, node }
      this.#nodes.set(placed.address, placed)
      const own = ownActionOf(node)
      const action_id = ownActionId(placed)
      if (own !== undefined) this.#ownActions.set(action_id, { ...own, action_id })
      if (node.global_node_setting !== null) globals.push({ ...placed, setting: node.global_node_setting })
    }
    this.#globals.set(scope, globals)
    this.#starts.set(scope, start)
  }

  node(address: string): PlacedNode | undefined {
    return this.#nodes.get(address)
  }

  /** The nodes of the main flow (null) or of a component, in order. */
  nodesIn(scope: string | null): readonly PlacedNode[] {
    return [...this.#nodes.values()].filter(placed => placed.scope === scope)
  }

  /** The start node of the main flow (null) or of a component. */
  start(scope: string | null): PlacedNode | undefined {
    const id = this.#starts.get(scope)
    return id === null || id === undefined ? undefined : this.#nodes.get(addressOf(scope, id))
  }

  /** The node that the edge leads to; undefined: it has no destination. */
  destination(from: PlacedNode, edge: Pick<Edge, 'destination_node_id'>): PlacedNode | undefined {
    if (edge.destination_node_id === null) return undefined
    return this.#nodes.get(addressOf(from.scope, edge.destination_node_id))
  }

  /** Global nodes that can be entered from a scope: those of the component first, then those of the main flow. */
  globals(scope: string | null): readonly GlobalNode[] {
    const main = this.#globals.get(null) ?? []
    return scope === null ? main : [...(this.#globals.get(scope) ?? []), ...main]
  }

  action(id: string): Action | undefined {
    return this.#actions.get(id)
  }

  /** The action with a result of this id: one of the agent's, or a node's own ({@link ownActionId}). */
  effectAction(id: string): EffectAction | undefined {
    const action = this.#actions.get(id)
    if (action !== undefined) return isEffectAction(action) ? action : undefined
    return this.#ownActions.get(id)
  }
}

/** Id of the action that a node itself is. No action of an agent has a slash in its id. */
export function ownActionId({ address }: Pick<PlacedNode, 'address'>): string {
  return `node/${address}`
}

function addressOf(scope: string | null, nodeId: string): string {
  return scope === null ? nodeId : `${scope}/${nodeId}`
}
