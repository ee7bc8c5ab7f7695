import type { ResultFrom } from '@parley/client'

export type Draft = ResultFrom<'drafts.get'>
/** The content of a draft: without its id and revision. */
export type DraftContent = ResultFrom<'publications.get'>['draft']
export type Flow = DraftContent['flow']
export type FlowNode = Flow['nodes'][number]

/** Where a node's edges are: a list, or one of the single slots. */
const SLOTS = [
  'edges',
  'always_edge',
  'skip_response_edge',
  'else_edge',
  'edge',
  'success_edge',
  'failed_edge',
] as const
type Slot = (typeof SLOTS)[number]

interface Edge {
  readonly id: string
  readonly transition_condition: Condition
  readonly destination_node_id: string | null
}

type Condition =
  | { readonly type: 'prompt'; readonly prompt: string }
  | { readonly type: 'equation'; readonly operator?: string; readonly equations: readonly Equation[] }

interface Equation {
  readonly left: string
  readonly operator: string
  readonly right?: string | undefined
}

export interface NodeEdge {
  readonly slot: Slot
  readonly edge: Edge
}

/** All edges that leave a node, in the order in which they are tried. */
export function edgesOf(node: FlowNode): readonly NodeEdge[] {
  const fields = node as unknown as Readonly<Record<string, unknown>>
  return SLOTS.flatMap(slot => {
    const value = fields[slot]
    const edges = Array.isArray(value) ? (value as Edge[]) : value == null ? [] : [value as Edge]
    return edges.map(edge => ({ slot, edge }))
  })
}

/** The condition of an edge in one line. `word`: the words of the page's language; unknown operators stay as they are. */
export function conditionText({ slot, edge }: NodeEdge, word: (group: string, value: string) => string): string {
  const condition = edge.transition_condition
  if (condition.type === 'prompt') return condition.prompt
  if (slot === 'else_edge') return word('condition', 'else')
  return condition.equations
    .map(({ left, operator, right }) =>
      [left, word('operator', operator), right].filter(part => part !== undefined).join(' '),
    )
    .join(` ${word('condition', condition.operator === '||' ? 'or' : 'and')} `)
}

/** What the agent says or does in a node, as far as the node has an instruction. */
export function instructionOf(
  node: FlowNode,
): { readonly type: 'prompt' | 'static_text'; readonly text: string } | null {
  const instruction = (node as { readonly instruction?: { type: 'prompt' | 'static_text'; text: string } | null })
    .instruction
  return instruction ?? null
}

interface Position {
  readonly x: number
  readonly y: number
}

const COLUMN = 300
const ROW = 150

/**
 * Where each node stands: where its author put it, if that is known of all; otherwise in columns by their distance from the start,
 * each node near the ones that lead to it.
 */
export function layout(nodes: readonly FlowNode[], startNodeId: string | null): ReadonlyMap<string, Position> {
  const placed = nodes.flatMap(node =>
    node.display_position == null ? [] : [[node.id, node.display_position] as const],
  )
  if (placed.length === nodes.length) return new Map(placed)
  const depths = depthsOf(nodes, startNodeId)
  const columns: string[][] = []
  for (const { id } of nodes) {
    const depth = depths.get(id)!
    columns[depth] ??= []
    columns[depth].push(id)
  }
  const positions = new Map<string, Position>()
  for (const [depth, column] of [...columns].entries()) {
    if (column === undefined) continue
    const wanted = new Map(column.map((id, index) => [id, meanRow(id, nodes, positions) ?? index * ROW]))
    column.sort((a, b) => wanted.get(a)! - wanted.get(b)!)
    const top = (-(column.length - 1) * ROW) / 2
    for (const [index, id] of column.entries()) positions.set(id, { x: depth * COLUMN, y: top + index * ROW })
  }
  return new Map([...positions, ...placed])
}

/** Size of a node as it is drawn, about. */
const NODE = { width: 240, height: 110 }
/** Smaller, the words in the nodes cannot be read. */
const READABLE_ZOOM = 0.75
/** Around the graph, px. */
const MARGIN = 32

interface Viewport extends Position {
  readonly zoom: number
}

/** How the graph is seen first: the whole of it if its words can be read then, otherwise its start at the left. */
export function firstViewport(
  positions: ReadonlyMap<string, Position>,
  startNodeId: string | null,
  { width, height }: { readonly width: number; readonly height: number },
): Viewport {
  const places = [...positions.values()]
  if (places.length === 0) return { x: 0, y: 0, zoom: 1 }
  const left = Math.min(...places.map(({ x }) => x))
  const top = Math.min(...places.map(({ y }) => y))
  const graphWidth = Math.max(...places.map(({ x }) => x)) + NODE.width - left
  const graphHeight = Math.max(...places.map(({ y }) => y)) + NODE.height - top
  const fitting = Math.min((width - 2 * MARGIN) / graphWidth, (height - 2 * MARGIN) / graphHeight, 1)
  if (fitting >= READABLE_ZOOM)
    return {
      x: (width - graphWidth * fitting) / 2 - left * fitting,
      y: (height - graphHeight * fitting) / 2 - top * fitting,
      zoom: fitting,
    }
  const start = (startNodeId === null ? undefined : positions.get(startNodeId)) ?? places[0]!
  return {
    x: MARGIN - start.x * READABLE_ZOOM,
    y: height / 2 - (start.y + NODE.height / 2) * READABLE_ZOOM,
    zoom: READABLE_ZOOM,
  }
}

/** Steps from the start; nodes that it does not reach stand in columns after all others. */
function depthsOf(nodes: readonly FlowNode[], startNodeId: string | null): ReadonlyMap<string, number> {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const depths = new Map<string, number>()
  const visit = (first: string, at: number) => {
    depths.set(first, at)
    for (const queue = [first]; queue.length > 0; ) {
      const id = queue.shift()!
      for (const { edge } of edgesOf(byId.get(id)!)) {
        const next = edge.destination_node_id
        if (next === null || !byId.has(next) || depths.has(next)) continue
        depths.set(next, depths.get(id)! + 1)
        queue.push(next)
      }
    }
  }
  if (startNodeId !== null && byId.has(startNodeId)) visit(startNodeId, 0)
  const reached = Math.max(-1, ...depths.values())
  for (const { id } of nodes) if (!depths.has(id)) visit(id, reached + 1)
  return depths
}

/** The mean row of the placed nodes that lead to this one; null: none does. */
function meanRow(id: string, nodes: readonly FlowNode[], positions: ReadonlyMap<string, Position>): number | null {
  const rows = nodes.flatMap(node => {
    const from = positions.get(node.id)
    return from !== undefined && edgesOf(node).some(({ edge }) => edge.destination_node_id === id) ? [from.y] : []
  })
  return rows.length === 0 ? null : rows.reduce((sum, row) => sum + row, 0) / rows.length
}

/** An id that no node or edge in `taken` has. */
export function freeId(stem: string, taken: ReadonlySet<string>): string {
  if (!taken.has(stem)) return stem
  for (let number = 2; ; number++) if (!taken.has(`${stem}_${number}`)) return `${stem}_${number}`
}
