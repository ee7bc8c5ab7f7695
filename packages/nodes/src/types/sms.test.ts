import { describe, expect, it } from 'vitest'
import { actionSchemaFaults, nodeSchemaFaults, slotCases } from '../testing/schema-cases.ts'
import { sms } from './sms.ts'

describe('an sms node', () => {
  it('an sms node accepts its fields within their bounds and names the field that it refuses', () => {
    expect(nodeSchemaFaults(sms, {}, { success_edge: slotCases, failed_edge: slotCases })).toEqual([])
    expect(sms.slots).toEqual(['success_edge', 'failed_edge'])
  })

  it('an sms node is stored with every field that an export gives it, and does not run', () => {
    const stored = { id: 'n', type: 'sms', instruction: { type: 'static_text', text: 'Hi' }, reason: 'confirm' }
    expect(sms.schema.parse(stored)).toMatchObject(stored)
    expect(sms).toMatchObject({ isRunnable: false, hasInstruction: true })
  })
})

describe('the send_sms tool', () => {
  it('a send_sms action accepts its fields within their bounds and is stored unchanged', () => {
    const stored = { action_id: 'a', name: 'a', kind: 'send_sms', sms_content: { type: 'predefined' } }
    expect(actionSchemaFaults(sms.action, {}, {})).toEqual([])
    expect(sms.action.schema.parse(stored)).toMatchObject(stored)
    expect(sms.action).toMatchObject({ isRunnable: false, exportType: 'send_sms' })
  })
})
