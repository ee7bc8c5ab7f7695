import { describe, expect, it } from 'vitest'
import { boolean, nullable, optional } from '../testing/field-cases.ts'
import { actionSchemaFaults, instructionCases, nodeSchemaFaults, viewOn } from '../testing/schema-cases.ts'
import { end, newEndNode } from './end.ts'

const fields = { instruction: optional(nullable(instructionCases)), speak_during_execution: optional(boolean) }
const words = { type: 'static_text' as const, text: 'Goodbye.' }
const nodeOf = (speaks: boolean) =>
  end.schema.parse({ id: 'end', type: 'end', instruction: words, speak_during_execution: speaks })
const phone = viewOn('phone')

describe('an end node', () => {
  it('an end node accepts its fields within their bounds, names the field that it refuses and has no edges', () => {
    expect(nodeSchemaFaults(end, {}, fields)).toEqual([])
    expect(end.slots).toEqual([])
  })

  it('an end node says its instruction and then ends the flow or component', () => {
    expect(end.enter?.(nodeOf(true), phone)).toEqual({ next: 'return', words })
    expect(end.isEnding).toBe(true)
  })

  it('an end node without speak_during_execution ends the flow or component without a word', () =>
    expect(end.enter?.(nodeOf(false), phone)).toEqual({ next: 'return', words: null }))

  it('an instruction that is not spoken yields a warning with the fixes to speak it or to leave it out', () => {
    const draft = { actionKind: () => undefined, hasComponent: () => false, hasMcpServer: () => false, sendsSms: false }
    expect(end.check?.(nodeOf(false), draft)).toMatchObject([
      {
        severity: 'warning',
        path: ['instruction'],
        fixes: [{ part: { speak_during_execution: true } }, { part: { instruction: null } }],
      },
    ])
    expect(end.check?.(nodeOf(true), draft)).toEqual([])
    expect(end.check?.(end.schema.parse({ id: 'end', type: 'end' }), draft)).toEqual([])
  })

  it('a new end node is a complete end node that says nothing', () =>
    expect(end.schema.parse({ id: 'end', type: 'end' })).toEqual(newEndNode('end')))
})

describe('the end_call tool', () => {
  const { action } = end
  const tool = action.schema.parse({ action_id: 'bye', kind: 'end_call', name: 'bye', instruction: words })

  it('an end_call action accepts its fields within their bounds and names the field that it refuses', () =>
    expect(actionSchemaFaults(action, {}, fields)).toEqual([]))

  it('the end_call tool takes no arguments and hangs up after its words, where it is to speak', () => {
    expect(action.parameters(tool)).toMatchObject({ properties: {}, required: [] })
    expect(action.use(tool, {}, phone)).toEqual({ next: 'hang_up', words: null })
    expect(action.use({ ...tool, speak_during_execution: true }, {}, phone)).toEqual({ next: 'hang_up', words })
  })
})
