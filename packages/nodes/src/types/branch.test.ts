import { describe, expect, it } from 'vitest'
import { list, optional } from '../testing/field-cases.ts'
import {
  draftWith,
  like,
  nodeSchemaFaults,
  slotCases,
  transitionExamplesCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { branch } from './branch.ts'

const equation = { type: 'equation', equations: [{ left: 'age', operator: '>=', right: '18' }] }
const yes = { id: 'yes', transition_condition: equation, destination_node_id: 'a' }
const no = { id: 'no', transition_condition: { type: 'prompt', prompt: 'Else' }, destination_node_id: 'b' }
const nodeOf = (fields: object = {}) =>
  branch.schema.parse({ id: 'split', type: 'branch', edges: [yes], else_edge: no, ...fields })

describe('a branch node', () => {
  it('a branch node accepts its fields within their bounds and names the field that it refuses', () => {
    expect(
      nodeSchemaFaults(
        branch,
        {},
        { edges: optional(list(0, 100, like(yes))), else_edge: slotCases, ...transitionExamplesCases },
      ),
    ).toEqual([])
    expect(branch.slots).toEqual(['edges', 'else_edge'])
  })

  it('a branch node is left by its edges as soon as it is entered', () =>
    expect(branch.enter?.(nodeOf(), viewOn('phone'))).toEqual({ next: 'leave' }))

  it('a branch node may ask the model, and then its own model has an effect', () => {
    const model_choice = { model: { model_id: 'm', provider: 'p', tier: 'frontier' } }
    const edges = [yes, { ...no, id: 'ask' }]
    expect(branch.check?.(nodeOf({ edges, model_choice }), draftWith({}))).toEqual([])
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
