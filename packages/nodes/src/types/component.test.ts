import { describe, expect, it } from 'vitest'
import { oneOf, optional } from '../testing/field-cases.ts'
import {
  draftWith,
  edgesCases,
  nodeIdCases,
  nodeSchemaFaults,
  slotCases,
  transitionExamplesCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { component } from './component.ts'

const nodeOf = (fields: object = {}) =>
  component.schema.parse({ id: 'c', type: 'component', component_id: 'verify', ...fields })

describe('a component node', () => {
  it('a component node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = {
      component_id: nodeIdCases,
      component_type: optional(oneOf('local', 'shared')),
      edges: edgesCases,
      else_edge: slotCases,
      ...transitionExamplesCases,
    }
    expect(nodeSchemaFaults(component, { component_id: 'verify' }, fields)).toEqual([])
    expect(component.slots).toEqual(['edges', 'else_edge'])
  })

  it('a component node enters its component, and ends the conversation where no edge leads on afterwards', () => {
    const phone = viewOn('phone')
    expect(component.enter?.(nodeOf(), phone)).toEqual({ next: 'call_component', componentId: 'verify' })
    expect(component.stuck?.(nodeOf(), phone)).toEqual({ next: 'end', outcome: 'completed' })
    expect(component.componentId?.(nodeOf())).toBe('verify')
  })

  it('a shared component runs where the flow has a copy of it, and yields a warning where it has none', () => {
    const shared = nodeOf({ component_type: 'shared' })
    expect(component.check?.(nodeOf(), draftWith({}))).toEqual([])
    expect(component.check?.(shared, draftWith({}, ['verify']))).toEqual([])
    expect(component.check?.(shared, draftWith({}))).toMatchObject([
      { severity: 'warning', code: 'not_executed', path: ['component_id'] },
    ])
  })
})
