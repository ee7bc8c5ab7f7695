import { describe, expect, it } from 'vitest'
import { conversingCases, draftWith, nodeSchemaFaults, toolCases, viewOn } from '../testing/schema-cases.ts'
import { conversation, newConversationNode } from './conversation.ts'

const instruction = { type: 'prompt' as const, text: 'Greet the caller.' }
const nodeOf = (fields: object = {}) =>
  conversation.schema.parse({ id: 'hi', type: 'conversation', instruction, ...fields })

describe('a conversation node', () => {
  it('a conversation node accepts its fields within their bounds and names the field that it refuses', () => {
    expect(nodeSchemaFaults(conversation, { instruction }, { ...conversingCases, ...toolCases })).toEqual([])
    expect(conversation.slots).toEqual(['edges', 'always_edge', 'skip_response_edge', 'else_edge'])
  })

  it('a parsed conversation node has every default, and parsing it again changes nothing', () => {
    const parsed = nodeOf()
    expect(parsed).toMatchObject({ name: '', edges: [], always_edge: null, voice_speed: null, model_choice: null })
    expect(conversation.schema.parse(parsed)).toEqual(parsed)
  })

  it('a conversation node speaks by its instruction when it is entered, and offers the model its tools', () => {
    expect(conversation.enter?.(nodeOf(), viewOn('phone'))).toEqual({ next: 'converse' })
    expect(conversation.conversing?.(nodeOf({ responsiveness: 0.5, tool_ids: ['book'] }))).toMatchObject({
      instruction,
      tools: ['book'],
      responsiveness: 0.5,
      voice_speed: null,
    })
  })

  it.each([['enable_typing_sound', true]])(
    'a conversation node with %s yields a warning that the field has no effect',
    (field, value) => {
      const findings = conversation.check?.(nodeOf({ [field]: value }), draftWith({}))
      expect(findings).toMatchObject([{ severity: 'warning', code: 'not_executed', path: [field] }])
    },
  )

  it('an exported node that skips the response takes its only edge without waiting for the caller', () => {
    const edge = { id: 'on', destination_node_id: 'next' }
    expect(conversation.importNode?.({ type: 'conversation', skip_response: true, edges: [edge] })).toMatchObject({
      node: { edges: [], skip_response_edge: edge },
      warnings: [{ field: 'skip_response' }],
    })
    const two = { type: 'conversation', skip_response: true, edges: [edge, { ...edge, id: 'off' }] }
    expect(conversation.importNode?.(two)).toEqual({ node: two, warnings: [] })
  })

  it('a new conversation node is a complete conversation node without edges', () =>
    expect(nodeOf()).toEqual({ ...newConversationNode('hi', 'Greet the caller.') }))
})
