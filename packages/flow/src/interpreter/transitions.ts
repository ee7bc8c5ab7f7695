import type { Edge } from '@parley/nodes'
import { conditionalEdges, edgeIn, slottedEdges } from '@parley/nodes'
import type { GoBackCondition } from '../plan/edge.ts'
import { holds } from './equation.ts'
import type { FlowContext, Step } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import type { Choice, NodeCause } from './protocol.ts'
import type { Fallback } from './state.ts'

/** Into the edge's destination; undefined where it leads nowhere. Moving on by an edge gives up the detours of this flow or component. */
export function follow(
  context: FlowContext,
  from: PlacedNode,
  edge: Edge,
  cause: NodeCause = 'edge',
): Step | undefined {
  const to = context.graph.destination(from, edge)
  if (to === undefined) return undefined
  const calls = context.calls()
  const detours = context.state.detours.filter(detour => detour.depth < calls.length)
  return { next: 'enter', to, calls, edgeId: edge.id, cause, detours, again: false }
}

/** The first equation that holds, top to bottom: the node's own edges, then what leads back out of a global node. */
export function byEquation(context: FlowContext, here: PlacedNode): Step | undefined {
  for (const edge of conditionalEdges(here.node)) {
    if (!equationHolds(context, edge)) continue
    const step = follow(context, here, edge)
    if (step !== undefined) return step
  }
  const back = goBackConditions(context, here).find(condition => equationHolds(context, condition))
  return back === undefined ? undefined : goBack(context, back.id)
}

function equationHolds(context: FlowContext, edge: Edge | GoBackCondition): boolean {
  const condition = edge.transition_condition
  return condition.type === 'equation' && holds(condition, context.lookup)
}

/** The node's edges that the model decides. */
export function edgeChoices(context: FlowContext, here: PlacedNode): Choice[] {
  const edges = conditionalEdges(here.node).filter(edge => context.graph.destination(here, edge) !== undefined)
  return promptChoices(context, edges, 'edge')
}

/** All that the model may choose on a turn of the caller: edges, ways back, global nodes that are not cooling down. */
export function turnChoices(context: FlowContext, here: PlacedNode): Choice[] {
  return [
    ...edgeChoices(context, here),
    ...promptChoices(context, goBackConditions(context, here), 'go_back'),
    ...globalChoices(context, here),
  ]
}

function promptChoices(
  context: FlowContext,
  edges: readonly (Edge | GoBackCondition)[],
  kind: 'edge' | 'go_back',
): Choice[] {
  const choices: Choice[] = []
  for (const { id, transition_condition: condition } of edges)
    if (condition.type === 'prompt')
      choices.push({ choice_id: `${kind}:${id}`, kind, condition: context.render(condition.prompt) })
  return choices
}

function globalChoices(context: FlowContext, here: PlacedNode): Choice[] {
  const { state } = context
  return context.graph
    .globals(here.scope)
    .filter(global => {
      if (global.address === here.address) return false
      const entered = Object.hasOwn(state.globalEntries, global.address)
        ? state.globalEntries[global.address]
        : undefined
      return entered === undefined || state.turn - entered > (global.setting.cool_down ?? 0)
    })
    .map(global => ({
      choice_id: `global:${global.address}`,
      kind: 'global',
      condition: context.render(global.setting.condition),
    }))
}

/** Ways back exist only where a global node interrupted something. */
function goBackConditions(context: FlowContext, here: PlacedNode): readonly GoBackCondition[] {
  if (context.state.detours.at(-1)?.global !== here.address) return []
  return here.node.global_node_setting?.go_back_conditions ?? []
}

/** What the model chose, as a step; undefined where the choice leads nowhere (any more). */
export function takeChoice(context: FlowContext, here: PlacedNode, choice: Choice): Step | undefined {
  const id = choice.choice_id.slice(choice.kind.length + 1)
  switch (choice.kind) {
    case 'edge': {
      const edge = conditionalEdges(here.node).find(candidate => candidate.id === id)
      return edge === undefined ? undefined : follow(context, here, edge)
    }
    case 'go_back':
      return goBack(context, id)
    case 'global':
      return enterGlobal(context, here, id)
  }
}

function goBack(context: FlowContext, edgeId: string): Step | undefined {
  const detour = context.state.detours.at(-1)
  const to = detour === undefined ? undefined : context.graph.node(detour.from.node)
  if (detour === undefined || to === undefined) return undefined
  const detours = context.state.detours.slice(0, -1)
  return { next: 'enter', to, calls: detour.from.calls, edgeId, cause: 'return', detours, again: true }
}

/** A global node that is entered again while it waits below another one keeps the place it first interrupted. */
function enterGlobal(context: FlowContext, here: PlacedNode, address: string): Step | undefined {
  const to = context.graph.node(address)
  if (to === undefined) return undefined
  const { detours } = context.state
  const below = detours.findIndex(detour => detour.global === address)
  const calls = to.scope === here.scope ? context.calls() : []
  const detour = { global: address, depth: calls.length, from: context.position() }
  return {
    next: 'enter',
    to,
    calls,
    edgeId: null,
    cause: 'global',
    detours: below < 0 ? [...detours, detour] : detours.slice(0, below + 1),
    again: false,
  }
}

/** What is taken on a turn when no condition holds: always, skip-response, else. */
export function turnFallback(context: FlowContext, here: PlacedNode): Fallback | null {
  const { node } = here
  const candidates: [Edge | null, 'edge' | 'else'][] = [
    [edgeIn(node, 'always_edge'), 'edge'],
    [edgeIn(node, 'skip_response_edge'), 'edge'],
    [edgeIn(node, 'else_edge'), 'else'],
  ]
  for (const [edge, cause] of candidates)
    if (edge !== null && context.graph.destination(here, edge) !== undefined) return { edge_id: edge.id, cause }
  return null
}

export function takeFallback(context: FlowContext, here: PlacedNode, fallback: Fallback): Step | undefined {
  const found = slottedEdges(here.node).find(({ slot, edge }) => slot !== 'edges' && edge.id === fallback.edge_id)
  return found === undefined ? undefined : follow(context, here, found.edge, fallback.cause)
}
