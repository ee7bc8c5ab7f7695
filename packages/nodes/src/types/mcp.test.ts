import { describe, expect, it } from 'vitest'
import { integer, optional, text } from '../testing/field-cases.ts'
import {
  actionSchemaFaults,
  effectNodeCases,
  nodeSchemaFaults,
  responseVariablesCases,
  resultCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { mcpNode } from './mcp.ts'

const parameters = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] }
const schemaCases = optional({ valid: [{}, parameters], invalid: ['x', [], 7], optional: false })
const mcpCases = { mcp_id: text(1, 256), timeout_ms: optional(integer(1000, 600_000)), parameters: schemaCases }
const nodeOf = (fields: object = {}) =>
  mcpNode.schema.parse({ id: 'find', type: 'mcp', mcp_id: 'calendar', mcp_tool_name: 'search', ...fields })

describe('an mcp node', () => {
  it('an mcp node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = { ...mcpCases, mcp_tool_name: text(1, 256), ...responseVariablesCases, ...effectNodeCases }
    expect(nodeSchemaFaults(mcpNode, { mcp_id: 'm', mcp_tool_name: 't' }, fields)).toEqual([])
    expect(mcpNode.slots).toEqual(['edges', 'else_edge'])
  })

  it('an mcp node calls its tool when it is entered', () => {
    expect(mcpNode.enter?.(nodeOf(), viewOn('phone'))).toMatchObject({ next: 'run_action', actionId: null })
    const own = mcpNode.ownAction?.(nodeOf({ parameters }))
    expect(own).toMatchObject({ kind: 'mcp', mcp_id: 'calendar', mcp_tool_name: 'search', parameters })
    expect(mcpNode.action.schema.safeParse(own).success).toBe(true)
  })

  it('an instruction that is not said can be said or left out, and both fixes are valid nodes', () => {
    const node = nodeOf({ instruction: { type: 'prompt', text: 'Wait.' } })
    const [found] = mcpNode.check?.(node, { hasMcpServer: () => true } as never) ?? []
    expect(found).toMatchObject({ code: 'not_executed', path: ['instruction'] })
    const parts = (found?.fixes ?? []).map(fix => (fix.fix === 'put' ? fix.part : null))
    expect(parts).toMatchObject([{ speak_during_execution: true }, { instruction: null }])
    for (const part of parts) expect(mcpNode.schema.parse(part)).toEqual(part)
  })
})

describe('the mcp tool', () => {
  const { action } = mcpNode

  it('an mcp action accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = { ...mcpCases, mcp_tool_name: optional(text(1, 256)), ...resultCases }
    expect(actionSchemaFaults(action, { mcp_id: 'm' }, fields)).toEqual([])
  })

  it('the mcp tool takes the arguments of the tool of the server, and runs', () => {
    const tool = action.schema.parse({ action_id: 'a', kind: 'mcp', name: 'a', mcp_id: 'm', parameters })
    expect(action.parameters(tool)).toEqual(parameters)
    expect(action.use(tool, {}, viewOn('phone'))).toEqual({ next: 'run_action' })
    expect(action.exportPaths).toEqual({ parameters: ['input_schema'] })
  })
})
