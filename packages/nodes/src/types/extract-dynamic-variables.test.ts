import { describe, expect, it } from 'vitest'
import { list } from '../testing/field-cases.ts'
import { actionSchemaFaults, edgesCases, like, nodeSchemaFaults, slotCases, viewOn } from '../testing/schema-cases.ts'
import { extractDynamicVariables } from './extract-dynamic-variables.ts'

const who = { type: 'string', name: 'who', description: 'Name' }
const age = { type: 'number', name: 'age', description: 'Age', required: true }
const phone = viewOn('phone')
const node = extractDynamicVariables.schema.parse({
  id: 'x',
  type: 'extract_dynamic_variables',
  variables: [who, age],
})
const variables = list(1, 50, like(who))

describe('an extract_dynamic_variables node', () => {
  it('an extract_dynamic_variables node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = { variables, edges: edgesCases, else_edge: slotCases }
    expect(nodeSchemaFaults(extractDynamicVariables, { variables: [who] }, fields)).toEqual([])
    expect(extractDynamicVariables.slots).toEqual(['edges', 'else_edge'])
  })

  it('an extract_dynamic_variables node asks the model for its variables when it is entered', () => {
    expect(extractDynamicVariables.enter?.(node, phone)).toEqual({
      next: 'request',
      request: { type: 'extract', variables: node.variables, model: null },
    })
    expect(extractDynamicVariables.variableNames?.(node)).toEqual(['who', 'age'])
  })

  it('an extract_dynamic_variables node sets the values that fit and is then left by its edges', () => {
    const value = { who: 'Ada', age: 'unknown', other: 1 }
    expect(extractDynamicVariables.answer?.(node, { type: 'inferred', value }, phone)).toEqual({
      next: 'leave',
      variables: { who: 'Ada' },
    })
  })

  it('an extract_dynamic_variables node is left without variables when the model gives no answer', () =>
    expect(extractDynamicVariables.answer?.(node, { type: 'inferred', value: null }, phone)).toEqual({
      next: 'leave',
      variables: {},
    }))
})

describe('the extract_dynamic_variables tool', () => {
  const { action } = extractDynamicVariables
  const toolOf = (...items: object[]) =>
    action.schema.parse({ action_id: 'x', kind: 'extract_dynamic_variables', name: 'note', variables: items })

  it('an extract_dynamic_variables action accepts its fields within their bounds and names the field that it refuses', () =>
    expect(actionSchemaFaults(action, { variables: [who] }, { variables })).toEqual([]))

  it('the extract_dynamic_variables tool sets the arguments of the tool call that fit, and returns "done" to the model', () => {
    const tool = toolOf(who, age)
    expect(action.parameters(tool)).toMatchObject({ properties: { age: { type: 'number' } }, required: ['age'] })
    expect(action.use(tool, { who: 'Ada', age: {} }, phone)).toEqual({
      next: 'result',
      result: 'done',
      variables: { who: 'Ada' },
    })
  })

  it('examples of a variable yield a warning that they have no effect in a tool', () =>
    expect(action.check?.(toolOf(who, { ...age, examples: ['36'] }))).toMatchObject([
      { severity: 'warning', code: 'not_executed', path: ['variables', 1, 'examples'] },
    ]))

  it('an export names the extract_dynamic_variables tool in the singular', () =>
    expect(action.exportType).toBe('extract_dynamic_variable'))
})
