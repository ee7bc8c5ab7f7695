import { describe, expect, it } from 'vitest'
import { edgesCases, nodeSchemaFaults, slotCases } from '../testing/schema-cases.ts'
import { mcp } from './mcp.ts'

describe('an mcp node', () => {
  it('an mcp node accepts its fields within their bounds and names the field that it refuses', () => {
    expect(nodeSchemaFaults(mcp, { mcp_id: 'm' }, { edges: edgesCases, else_edge: slotCases })).toEqual([])
    expect(mcp.slots).toEqual(['edges', 'else_edge'])
  })

  it('an mcp node is stored with every field that an export gives it, and does not run', () => {
    const stored = { id: 'n', type: 'mcp', mcp_id: 'm', mcp_tool_name: 'search', wait_for_result: true }
    expect(mcp.schema.parse(stored)).toMatchObject(stored)
    expect(mcp).toMatchObject({ isRunnable: false, hasInstruction: false })
  })
})
