import { describe, expect, it } from 'vitest'
import { boolean, nullable, optional } from '../testing/field-cases.ts'
import { draftWith, instructionCases, nodeSchemaFaults, viewOn } from '../testing/schema-cases.ts'
import { bridgeTransfer } from './bridge-transfer.ts'

describe('a bridge_transfer node', () => {
  it('a bridge_transfer node accepts its fields within their bounds, names the field that it refuses and has no edges', () => {
    const fields = {
      instruction: optional(nullable(instructionCases)),
      speak_during_execution: optional(boolean),
    }
    expect(nodeSchemaFaults(bridgeTransfer, {}, fields)).toEqual([])
    expect(bridgeTransfer.slots).toEqual([])
  })

  it('a bridge_transfer node says its words and ends the conversation, with a warning', () => {
    const instruction = { type: 'static_text', text: 'Goodbye.' }
    const fields = { instruction, speak_during_execution: true }
    const node = bridgeTransfer.schema.parse({ id: 'n', type: 'bridge_transfer', ...fields })
    expect(bridgeTransfer.enter?.(node, viewOn('phone'))).toEqual({ next: 'return', words: instruction })
    expect(bridgeTransfer.check?.(node, draftWith({}))).toMatchObject([{ severity: 'warning', code: 'not_executed' }])
  })
})
