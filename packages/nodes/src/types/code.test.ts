import { describe, expect, it } from 'vitest'
import { edgesCases, nodeSchemaFaults, slotCases } from '../testing/schema-cases.ts'
import { code } from './code.ts'

describe('a code node', () => {
  it('a code node accepts its fields within their bounds and names the field that it refuses', () => {
    expect(nodeSchemaFaults(code, { code: 'return 1' }, { edges: edgesCases, else_edge: slotCases })).toEqual([])
    expect(code.slots).toEqual(['edges', 'else_edge'])
  })

  it('a code node is stored with every field that an export gives it, as far as they are valid JSON, and does not run', () => {
    const stored = { id: 'n', type: 'code', code: 'return 1', response_variables: { a: '$.b' } }
    expect(code.schema.parse(stored)).toMatchObject(stored)
    expect(code.schema.safeParse({ ...stored, code: 'a\0' }).success).toBe(false)
    expect(code).toMatchObject({ isRunnable: false, hasInstruction: false })
  })
})
