import { describe, expect, it } from 'vitest'
import { nodeSchemaFaults } from '../testing/schema-cases.ts'
import { cancelTransfer } from './cancel-transfer.ts'

describe('a cancel_transfer node', () => {
  it('a cancel_transfer node accepts its fields within their bounds, names the field that it refuses and has no edges', () => {
    expect(nodeSchemaFaults(cancelTransfer, {}, {})).toEqual([])
    expect(cancelTransfer.slots).toEqual([])
  })

  it('a cancel_transfer node is stored with every field that an export gives it, and does not run', () => {
    const stored = { id: 'n', type: 'cancel_transfer', instruction: { type: 'prompt', text: 'Connect them' } }
    expect(cancelTransfer.schema.parse(stored)).toMatchObject(stored)
    expect(cancelTransfer).toMatchObject({ isRunnable: false, hasInstruction: true })
  })
})
