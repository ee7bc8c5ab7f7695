import { describe, expect, it } from 'vitest'
import { action, actionKindOf, actionKindOfTool, node, nodeTypeNamed, nodeTypeOf } from './registry.ts'

const TYPES = [
  ['conversation', ['edges', 'always_edge', 'skip_response_edge', 'else_edge']],
  ['subagent', ['edges', 'always_edge', 'skip_response_edge', 'else_edge']],
  ['function', ['edges', 'else_edge']],
  ['branch', ['edges', 'else_edge']],
  ['extract_dynamic_variables', ['edges', 'else_edge']],
  ['press_digit', ['edges', 'else_edge']],
  ['transfer_call', ['edge']],
  ['end', []],
  ['component', ['edges', 'else_edge']],
  ['code', ['edges', 'else_edge']],
  ['mcp', ['edges', 'else_edge']],
  ['agent_swap', ['edge']],
  ['sms', ['success_edge', 'failed_edge']],
  ['bridge_transfer', []],
  ['cancel_transfer', []],
] as const

describe('the registry of node types', () => {
  it.each(TYPES)('the registry finds the node type %s with the edge slots %j', (type, slots) => {
    expect(nodeTypeOf({ type })).toMatchObject({ type, slots })
    expect(nodeTypeNamed(type)).toBe(nodeTypeOf({ type }))
  })

  it('the registry contains every node type that the node schema accepts', () => {
    expect(node.options.flatMap(option => [...option.shape.type.values])).toEqual(TYPES.map(([type]) => type))
  })

  it.each(['', 'constructor', 7, null, undefined])('the registry finds no node type for %j', type => {
    expect(nodeTypeNamed(type)).toBeUndefined()
  })
})

describe('the registry of action kinds', () => {
  it('the registry contains every action kind that the action schema accepts, and finds each by its tool type in an export', () => {
    const kinds = action.options.flatMap(option => [...option.shape.kind.values])
    expect(kinds.map(kind => actionKindOf({ kind }).kind)).toEqual(kinds)
    expect(kinds.map(kind => actionKindOfTool(actionKindOf({ kind }).exportType)?.kind)).toEqual(kinds)
  })

  it('the registry finds no action kind for an unsupported tool type of an export', () => {
    expect(actionKindOfTool('book_appointment_cal')).toBeUndefined()
  })
})
