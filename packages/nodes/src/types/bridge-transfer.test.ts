import { describe, expect, it } from 'vitest'
import { nodeSchemaFaults } from '../testing/schema-cases.ts'
import { bridgeTransfer } from './bridge-transfer.ts'

describe('a bridge_transfer node', () => {
  it('a bridge_transfer node accepts its fields within their bounds, names the field that it refuses and has no edges', () => {
    expect(nodeSchemaFaults(bridgeTransfer, {}, {})).toEqual([])
    expect(bridgeTransfer.slots).toEqual([])
  })

  it('a bridge_transfer node is stored with every field that an export gives it, and does not run', () => {
    const stored = { id: 'n', type: 'bridge_transfer', instruction: { type: 'prompt', text: 'Connect them' } }
    expect(bridgeTransfer.schema.parse(stored)).toMatchObject(stored)
    expect(bridgeTransfer).toMatchObject({ isRunnable: false, hasInstruction: true })
  })
})
