import { describe, expect, it } from 'vitest'
import { type Catalogue, en } from '../i18n/en.ts'
import { es } from '../i18n/es.ts'
import { conditionText, edgesOf, type FlowNode, firstViewport, freeId, layout } from './flow-graph.ts'

const prompt = (id: string, to: string | null) => ({
  id,
  transition_condition: { type: 'prompt', prompt: `when ${id}` },
  destination_node_id: to,
})
const node = (id: string, fields: Record<string, unknown> = {}) =>
  ({ id, type: 'conversation', name: id, display_position: null, edges: [], ...fields }) as unknown as FlowNode

it('the edges of a node come from its list and from its single slots', () => {
  const edges = edgesOf(
    node('a', { edges: [prompt('x', 'b'), prompt('y', null)], else_edge: prompt('z', 'c'), always_edge: null }),
  )
  expect(edges.map(({ slot, edge }) => [slot, edge.id, edge.destination_node_id])).toEqual([
    ['edges', 'x', 'b'],
    ['edges', 'y', null],
    ['else_edge', 'z', 'c'],
  ])
})

const wordsOf = (catalogue: Catalogue) => (group: string, value: string) =>
  (catalogue as Readonly<Record<string, string>>)[`${group}.${value}`] ?? value

it('equations are shown in the words of the page', () => {
  const edge = {
    id: 'e',
    transition_condition: {
      type: 'equation' as const,
      operator: '||',
      equations: [
        { left: '{{day}}', operator: '==', right: 'Monday' },
        { left: '{{name}}', operator: 'exists' },
      ],
    },
    destination_node_id: null,
  }
  expect(conditionText({ slot: 'edges', edge }, wordsOf(en))).toBe('{{day}} is Monday or {{name}} is known')
  expect(conditionText({ slot: 'edges', edge }, wordsOf(es))).toBe('{{day}} es Monday o {{name}} se conoce')
  expect(conditionText({ slot: 'else_edge', edge }, wordsOf(es))).toBe('si no')
})

it('nodes without positions stand in columns by their distance from the start', () => {
  const nodes = [
    node('end'),
    node('start', { edges: [prompt('1', 'a'), prompt('2', 'b')] }),
    node('a', { edges: [prompt('3', 'end')] }),
    node('b', { edges: [prompt('4', 'start')] }),
    node('lost'),
  ]
  const positions = layout(nodes, 'start')
  const x = (id: string) => positions.get(id)!.x
  expect(x('start')).toBe(0)
  expect(x('a')).toBe(x('b'))
  expect([x('a') < x('end'), x('end') < x('lost')]).toEqual([true, true])
  expect(new Set([...positions.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length)
})

it('nodes stay where their author put them', () => {
  const nodes = [node('a', { display_position: { x: 5, y: 6 } }), node('b', { display_position: { x: 7, y: 8 } })]
  expect([...layout(nodes, 'a').values()]).toEqual([
    { x: 5, y: 6 },
    { x: 7, y: 8 },
  ])
})

it('a flow without a start, with cycles and dangling edges has a layout', () => {
  const nodes = [
    node('a', { edges: [prompt('1', 'b')] }),
    node('b', { edges: [prompt('2', 'a'), prompt('3', 'nowhere')] }),
  ]
  expect(layout(nodes, null).size).toBe(2)
  expect(layout([], 'a').size).toBe(0)
})

it('a new id is one that nothing has', () => {
  expect(freeId('node', new Set())).toBe('node')
  expect(freeId('node', new Set(['node', 'node_2']))).toBe('node_3')
})

describe('the first view of a graph', () => {
  const canvas = { width: 1200, height: 700 }
  const row = (count: number) => new Map(Array.from({ length: count }, (_, i) => [`n${i}`, { x: 300 * i, y: 0 }]))

  it('the first view of a graph shows all of a small one, in the middle', () => {
    const { x, y, zoom } = firstViewport(row(3), 'n0', canvas)
    expect(zoom).toBe(1)
    expect([x, x + 600 + 240]).toEqual([180, 1020])
    expect(y).toBe(295)
  })

  it('the first view of a graph shows one that would be too small to read from its start on', () => {
    const { x, y, zoom } = firstViewport(row(12), 'n2', canvas)
    expect(zoom).toBeGreaterThan(0.7)
    // The start is at the left, half way down.
    expect(x + 600 * zoom).toBeGreaterThan(0)
    expect(x + 600 * zoom).toBeLessThan(100)
    expect(y + 55 * zoom).toBe(350)
  })

  it('the first view of a graph needs neither nodes nor a start', () => {
    expect(firstViewport(new Map(), null, canvas).zoom).toBe(1)
    expect(firstViewport(row(12), null, canvas).x).toBeGreaterThan(0)
  })
})
