import { describe, expect, it } from 'vitest'
import { integer, optional, text } from '../testing/field-cases.ts'
import {
  actionSchemaFaults,
  draftWith,
  effectNodeCases,
  nodeSchemaFaults,
  responseVariablesCases,
  resultCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { codeNode } from './code.ts'

const codeCases = { code: optional(text(0, 65_536)), timeout_ms: optional(integer(1000, 60_000)) }
const nodeOf = (fields: object = {}) =>
  codeNode.schema.parse({ id: 'sum', type: 'code', code: 'return 1', response_variables: { total: '$.n' }, ...fields })

describe('a code node', () => {
  it('a code node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = { ...codeCases, ...responseVariablesCases, ...effectNodeCases }
    expect(nodeSchemaFaults(codeNode, {}, fields)).toEqual([])
    expect(codeNode.slots).toEqual(['edges', 'else_edge'])
  })

  it('a code node runs its code when it is entered, and sets its response variables', () => {
    const instruction = { type: 'static_text', text: 'One moment.' }
    expect(codeNode.enter?.(nodeOf(), viewOn('phone'))).toEqual({
      next: 'run_action',
      actionId: null,
      waits: true,
      words: null,
      model: null,
    })
    expect(
      codeNode.enter?.(nodeOf({ instruction, speak_during_execution: true, wait_for_result: false }), viewOn('phone')),
    ).toMatchObject({ waits: false, words: instruction })
    expect(codeNode.ownAction?.(nodeOf())).toMatchObject({ kind: 'code', code: 'return 1', timeout_ms: 30_000 })
    expect(codeNode.action.schema.safeParse(codeNode.ownAction?.(nodeOf({ name: '2 sums!' }))).success).toBe(true)
    expect(codeNode.variableNames?.(nodeOf())).toEqual(['total'])
  })

  it('a code node whose instruction is not said yields a warning', () =>
    expect(codeNode.check?.(nodeOf({ instruction: { type: 'prompt', text: 'Say so' } }), draftWith({}))).toMatchObject([
      { severity: 'warning', code: 'not_executed', path: ['instruction'] },
    ]))

  it.each([
    ['return fetch("https://e.test")', ['code']],
    ['return dv.name', []],
  ])('the code %j of an export is imported with warnings about the fields %j', (code, fields) =>
    expect(codeNode.importWarnings?.({ type: 'code', code }).map(({ field }) => field)).toEqual(fields),
  )
})

describe('the code tool', () => {
  const { action } = codeNode

  it('a code action accepts its fields within their bounds and names the field that it refuses', () =>
    expect(actionSchemaFaults(action, {}, { ...codeCases, ...resultCases })).toEqual([]))

  it('the code tool takes no arguments and runs', () => {
    const tool = action.schema.parse({ action_id: 'a', kind: 'code', name: 'a' })
    expect(action.parameters(tool)).toMatchObject({ properties: {} })
    expect(action.use(tool, {}, viewOn('phone'))).toEqual({ next: 'run_action' })
  })
})
