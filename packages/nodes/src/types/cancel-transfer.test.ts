import { describe, expect, it } from 'vitest'
import { boolean, nullable, optional } from '../testing/field-cases.ts'
import { draftWith, instructionCases, nodeSchemaFaults, viewOn } from '../testing/schema-cases.ts'
import { cancelTransfer } from './cancel-transfer.ts'

describe('a cancel_transfer node', () => {
  it('a cancel_transfer node accepts its fields within their bounds, names the field that it refuses and has no edges', () => {
    const fields = {
      instruction: optional(nullable(instructionCases)),
      speak_during_execution: optional(boolean),
    }
    expect(nodeSchemaFaults(cancelTransfer, {}, fields)).toEqual([])
    expect(cancelTransfer.slots).toEqual([])
  })

  it('a cancel_transfer node says its words and ends the conversation, with a warning', () => {
    const instruction = { type: 'static_text', text: 'Goodbye.' }
    const fields = { instruction, speak_during_execution: true }
    const node = cancelTransfer.schema.parse({ id: 'n', type: 'cancel_transfer', ...fields })
    expect(cancelTransfer.enter?.(node, viewOn('phone'))).toEqual({ next: 'return', words: instruction })
    expect(cancelTransfer.check?.(node, draftWith({}))).toMatchObject([{ severity: 'warning', code: 'not_executed' }])
  })
})
