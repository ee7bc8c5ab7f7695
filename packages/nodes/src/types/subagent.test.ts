import { describe, expect, it } from 'vitest'
import { conversingCases, draftWith, nodeSchemaFaults, toolCases, viewOn } from '../testing/schema-cases.ts'
import { subagent } from './subagent.ts'

const instruction = { type: 'prompt' as const, text: 'Help.' }
const node = subagent.schema.parse({ id: 'help', type: 'subagent', instruction, tool_ids: ['book', 'bye'] })

describe('a subagent node', () => {
  it('a subagent node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = { ...conversingCases, ...toolCases }
    expect(nodeSchemaFaults(subagent, { instruction }, fields)).toEqual([])
    expect(subagent.slots).toEqual(['edges', 'always_edge', 'skip_response_edge', 'else_edge'])
  })

  it('a subagent node speaks by its instruction when it is entered, and offers the model its tools', () => {
    expect(subagent.enter?.(node, viewOn('phone'))).toEqual({ next: 'converse' })
    expect(subagent.conversing?.(node)).toMatchObject({ instruction, tools: ['book', 'bye'] })
    expect(subagent.actionIds?.(node)).toEqual(['book', 'bye'])
  })

  it('a subagent node whose tool does not exist yields an error, and the fix leaves that tool out', () => {
    expect(subagent.check?.(node, draftWith({ book: 'http', bye: 'end_call' }))).toEqual([])
    expect(subagent.check?.(node, draftWith({ book: 'http' }))).toMatchObject([
      {
        severity: 'error',
        code: 'action_unknown',
        path: ['tool_ids', 1],
        fixes: [{ fix: 'put', part: { tool_ids: ['book'] } }],
      },
    ])
  })

  it('tools that an export defines inside a subagent node belong to that node', () =>
    expect(subagent.exportDefinesTools).toBe(true))
})
