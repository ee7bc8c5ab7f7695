import { describe, expect, it } from 'vitest'
import { list } from '../testing/field-cases.ts'
import { draftWith, like, nodeSchemaFaults, slotCases, viewOn } from '../testing/schema-cases.ts'
import { branch } from './branch.ts'

const equation = { type: 'equation', equations: [{ left: 'age', operator: '>=', right: '18' }] }
const yes = { id: 'yes', transition_condition: equation, destination_node_id: 'a' }
const no = { id: 'no', transition_condition: { type: 'prompt', prompt: 'Else' }, destination_node_id: 'b' }
const nodeOf = (fields: object = {}) =>
  branch.schema.parse({ id: 'split', type: 'branch', edges: [yes], else_edge: no, ...fields })

describe('a branch node', () => {
  it('a branch node accepts its fields within their bounds and names the field that it refuses', () => {
    expect(
      nodeSchemaFaults(branch, { edges: [yes] }, { edges: list(1, 100, like(yes)), else_edge: slotCases }),
    ).toEqual([])
    expect(branch.slots).toEqual(['edges', 'else_edge'])
    expect(branch.minEdges).toBe(1)
  })

  it('a branch node is left by its edges as soon as it is entered', () =>
    expect(branch.enter?.(nodeOf(), viewOn('phone'))).toEqual({ next: 'leave' }))

  it('a branch node whose edge asks the model yields an error, and the fix removes that edge', () => {
    expect(branch.check?.(nodeOf(), draftWith({}))).toEqual([])
    expect(branch.check?.(nodeOf({ edges: [yes, { ...no, id: 'ask' }] }), draftWith({}))).toMatchObject([
      {
        severity: 'error',
        code: 'unsupported_capability',
        path: ['edges', 1, 'transition_condition'],
        fixes: [{ fix: 'remove_edge', edge: { id: 'ask' } }],
      },
    ])
  })

  it('a branch node without an else edge yields an error, and the fix adds one that leads to an end node', () =>
    expect(branch.check?.(nodeOf({ else_edge: null }), draftWith({}))).toMatchObject([
      { severity: 'error', code: 'else_edge_missing', path: ['else_edge'], fixes: [{ fix: 'add_edge_to_end' }] },
    ]))

  it('a branch node with a model of its own yields a warning that the model has no effect', () => {
    const model_choice = { model: { model_id: 'm', provider: 'p', tier: 'frontier' } }
    expect(branch.check?.(nodeOf({ model_choice }), draftWith({}))).toMatchObject([
      { severity: 'warning', code: 'not_executed', path: ['model_choice'] },
    ])
  })
})

describe('a branch node of an export', () => {
  it('an exported branch that has an edge is imported unchanged', () => {
    const source = { type: 'branch', edges: [{ id: 'e' }] }
    expect(branch.importNode?.(source)).toEqual({ node: source, warnings: [] })
  })

  it.each([[[]], [null], [['x']]])(
    'an exported branch with the edges %j gets an edge to the destination of its else edge, with a warning',
    edges => {
      const read = branch.importNode?.({
        type: 'branch',
        edges,
        else_edge: { id: 'else', destination_node_id: 'next' },
      })
      expect(read?.node.edges).toMatchObject([{ id: 'added-else', destination_node_id: 'next' }])
      expect(read?.warnings).toMatchObject([{ field: 'edges' }])
    },
  )
})
