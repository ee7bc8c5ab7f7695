import type { Edge } from '@parley/nodes'
import { conditionalEdges, edgeIn, nodeTypeOf, slottedEdges } from '@parley/nodes'
import type { GoBackCondition } from '../plan/edge.ts'
import { holds } from './equation.ts'
import { globalExamples, transitionExamples } from './examples.ts'
import type { FlowContext, Step } from './flow-context.ts'
import type { PlacedNode } from './graph.ts'
import type { Choice, NodeCause } from './protocol.ts'
import type { Fallback } from './state.ts'

/** Enters the edge's destination; undefined: it has none. Taking an edge drops the detours of the current flow or component. */
export function follow(
  context: FlowContext,
  from: PlacedNode,
  edge: Pick<Edge, 'id' | 'destination_node_id'>,
  cause: NodeCause = 'edge',
): Step | undefined {
  const to = context.graph.destination(from, edge)
  if (to === undefined) return undefined
  const calls = context.calls()
  const detours = context.state.detours.filter(detour => detour.depth < calls.length)
  return { next: 'enter', to, calls, edgeId: edge.id || null, cause, detours, isReturn: false }
}

/** Takes the first edge whose equation holds: the node's own edges in order, then the conditions that return from a global node. */
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

/** The node's edges as choices of the model. */
export function edgeChoices(context: FlowContext, here: PlacedNode): Choice[] {
  const edges = conditionalEdges(here.node).filter(edge => context.graph.destination(here, edge) !== undefined)
  const { node } = here
  const examples = 'finetune_transition_examples' in node ? node.finetune_transition_examples : undefined
  return promptChoices(context, edges, 'edge', examples)
}

/** Everything that the model may choose on a turn of the caller: edges, returns, global nodes that are not cooling down. */
export function turnChoices(context: FlowContext, here: PlacedNode): Choice[] {
  return [
    ...edgeChoices(context, here),
    ...promptChoices(context, goBackConditions(context, here), 'go_back'),
    ...globalChoices(context, here),
    ...flexChoices(context, here),
  ]
}

function promptChoices(
  context: FlowContext,
  edges: readonly (Edge | GoBackCondition)[],
  kind: 'edge' | 'go_back',
  examples?: unknown,
): Choice[] {
  const choices: Choice[] = []
  for (const { id, transition_condition: condition, destination_node_id: to } of edges)
    if (condition.type === 'prompt') {
      const prompt = context.render(condition.prompt) + transitionExamples(examples, to)
      choices.push({ choice_id: `${kind}:${id}`, kind, condition: prompt })
    }
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
      condition:
        context.render(global.setting.condition) +
        globalExamples(global.setting.positive_finetune_examples, global.setting.negative_finetune_examples),
    }))
}

/** Maximum nodes that flex mode offers, and maximum characters of an instruction in the description of one. */
const MAX_FLEX = 40
const MAX_FLEX_TEXT = 300

/** In flex mode, every other node of the flow that converses, described by its name and its instruction. */
function flexChoices(context: FlowContext, here: PlacedNode): Choice[] {
  if (context.graph.plan.flow.flex_mode !== true) return []
  const reached = new Set(conditionalEdges(here.node).map(edge => edge.destination_node_id))
  return context.graph
    .nodesIn(here.scope)
    .filter(
      ({ address, node }) => address !== here.address && node.global_node_setting === null && !reached.has(node.id),
    )
    .flatMap(({ address, node }): Choice[] => {
      const conversing = nodeTypeOf(node).conversing?.(node)
      if (conversing === undefined) return []
      const step = context.render(conversing.instruction.text).slice(0, MAX_FLEX_TEXT)
      const condition = `The conversation is now about "${node.name || node.id}": ${step}`
      return [{ choice_id: `flex:${address}`, kind: 'flex', condition }]
    })
    .slice(0, MAX_FLEX)
}

/** The conditions that return from a global node; none unless it interrupted another node. */
function goBackConditions(context: FlowContext, here: PlacedNode): readonly GoBackCondition[] {
  if (context.state.detours.at(-1)?.global !== here.address) return []
  return here.node.global_node_setting?.go_back_conditions ?? []
}

/** The step of a choice that the model made; undefined: its destination does not exist, or no longer. */
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
    case 'flex': {
      const to = context.graph.node(id)
      return to === undefined ? undefined : follow(context, here, { id: '', destination_node_id: to.node.id })
    }
  }
}

function goBack(context: FlowContext, edgeId: string): Step | undefined {
  const detour = context.state.detours.at(-1)
  const to = detour === undefined ? undefined : context.graph.node(detour.from.node)
  if (detour === undefined || to === undefined) return undefined
  const detours = context.state.detours.slice(0, -1)
  return { next: 'enter', to, calls: detour.from.calls, edgeId, cause: 'return', detours, isReturn: true }
}

/** Enters a global node. One that another global node interrupted, and that is entered again, keeps the position it interrupted first. */
function enterGlobal(context: FlowContext, here: PlacedNode, address: string): Step | undefined {
  const to = context.graph.node(address)
  if (to === undefined) return undefined
  const { detours } = context.state
  const position = detours.findIndex(detour => detour.global === address)
  const calls = to.scope === here.scope ? context.calls() : []
  const detour = { global: address, depth: calls.length, from: context.position() }
  return {
    next: 'enter',
    to,
    calls,
    edgeId: null,
    cause: 'global',
    detours: position < 0 ? [...detours, detour] : detours.slice(0, position + 1),
    isReturn: false,
  }
}

/** The edge that is taken when no condition holds: the always, skip-response or else edge. */
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

/** The step of a fallback; undefined: its edge has no destination. */
export function takeFallback(context: FlowContext, here: PlacedNode, fallback: Fallback): Step | undefined {
  const found = slottedEdges(here.node).find(({ slot, edge }) => slot !== 'edges' && edge.id === fallback.edge_id)
  return found === undefined ? undefined : follow(context, here, found.edge, fallback.cause)
}
