import { describe, expect, it } from 'vitest'
import { boolean, identifier, nullable, oneOf, optional, text } from '../testing/field-cases.ts'
import {
  draftWith,
  edgesCases,
  instructionCases,
  nodeSchemaFaults,
  slotCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { functionNode } from './function.ts'

const words = { type: 'static_text' as const, text: 'One moment.' }
const nodeOf = (fields: object = {}) =>
  functionNode.schema.parse({ id: 'f', type: 'function', tool_id: 'book', instruction: words, ...fields })
const phone = viewOn('phone')
const http = draftWith({ book: 'http' })

describe('a function node', () => {
  it('a function node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = {
      tool_id: identifier(128),
      tool_type: optional(oneOf('local', 'shared')),
      wait_for_result: optional(boolean),
      speak_during_execution: optional(boolean),
      enable_typing_sound: optional(boolean),
      instruction: optional(nullable(instructionCases)),
      holding_line: optional(nullable(text(1, 200))),
      edges: edgesCases,
      else_edge: slotCases,
    }
    expect(nodeSchemaFaults(functionNode, { tool_id: 'book' }, fields)).toEqual([])
    expect(functionNode.slots).toEqual(['edges', 'else_edge'])
  })

  it('a function node runs its action when it is entered, waits for the result and says nothing by default', () => {
    expect(functionNode.enter?.(nodeOf(), phone)).toEqual({
      next: 'run_action',
      actionId: 'book',
      waits: true,
      words: null,
      model: null,
    })
    expect(functionNode.actionIds?.(nodeOf())).toEqual(['book'])
  })

  it('a function node with speak_during_execution speaks while its action runs, and need not wait for the result', () => {
    const node = nodeOf({ speak_during_execution: true, wait_for_result: false })
    expect(functionNode.enter?.(node, phone)).toMatchObject({ next: 'run_action', waits: false, words })
  })

  it('a function node whose action does not exist yields an error', () =>
    expect(functionNode.check?.(nodeOf(), draftWith({}))).toMatchObject([
      { severity: 'error', code: 'action_unknown', path: ['tool_id'], fixes: [{ fix: 'remove' }] },
    ]))

  it('a function node whose action is not of kind http yields an error', () => {
    expect(functionNode.check?.(nodeOf(), http)).toEqual([])
    expect(functionNode.check?.(nodeOf(), draftWith({ book: 'end_call' }))).toMatchObject([
      { severity: 'error', code: 'unsupported_capability', path: ['tool_id'] },
    ])
  })

  it.each([
    ['tool_type', 'shared'],
    ['enable_typing_sound', true],
  ])('a function node with %s %j yields a warning that the field has no effect', (field, value) =>
    expect(functionNode.check?.(nodeOf({ [field]: value }), http)).toMatchObject([
      { severity: 'warning', code: 'not_executed', path: [field] },
    ]),
  )
})
