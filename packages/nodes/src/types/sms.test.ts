import { describe, expect, it } from 'vitest'
import { boolean, optional } from '../testing/field-cases.ts'
import {
  actionSchemaFaults,
  executionMessageCases,
  instructionCases,
  nodeSchemaFaults,
  responseVariablesCases,
  slotCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { messageText, sms } from './sms.ts'

const fixed = { type: 'static_text' as const, text: 'See you, {{who}}.' }
const prompted = { type: 'prompt' as const, text: 'Confirm the appointment.' }
const nodeOf = (instruction: object) => sms.schema.parse({ id: 's', type: 'sms', instruction })
const toolOf = (fields: object = {}) =>
  sms.action.schema.parse({ action_id: 'a', name: 'a', kind: 'send_sms', ...fields })
const render = (text: string) => text.replace('{{who}}', 'Ada')

describe('an sms node', () => {
  it('an sms node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = { instruction: instructionCases, success_edge: slotCases, failed_edge: slotCases }
    expect(nodeSchemaFaults(sms, { instruction: fixed }, fields)).toEqual([])
    expect(sms.slots).toEqual(['success_edge', 'failed_edge'])
  })

  it('an sms node sends when it is entered, and is left by the edge of the outcome', () => {
    expect(sms.enter?.(nodeOf(fixed), viewOn('phone'))).toMatchObject({ next: 'run_action', waits: true })
    expect(sms.afterAction?.(nodeOf(fixed), 'succeeded')).toEqual({ next: 'take', slot: 'success_edge' })
    expect(sms.afterAction?.(nodeOf(fixed), 'failed')).toEqual({ next: 'fail', slot: 'failed_edge' })
    expect(sms.afterAction?.(nodeOf(fixed), 'uncertain')).toEqual({ next: 'fail', slot: 'failed_edge' })
    expect(sms.action.schema.safeParse(sms.ownAction?.(nodeOf(fixed))).success).toBe(true)
  })
})

describe('the send_sms tool', () => {
  it('a send_sms action accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = {
      sms_content: optional(instructionCases),
      ...executionMessageCases,
      ...responseVariablesCases,
      speak_after_execution: optional(boolean),
    }
    expect(actionSchemaFaults(sms.action, {}, fields)).toEqual([])
  })

  it('the model writes the message of a prompt, and a fixed message needs no arguments', () => {
    expect(sms.action.parameters(toolOf({ sms_content: prompted }))).toMatchObject({ required: ['message'] })
    expect(sms.action.parameters(toolOf())).toMatchObject({ required: ['message'] })
    expect(sms.action.parameters(toolOf({ sms_content: fixed }))).toMatchObject({ properties: {} })
    expect(sms.action.use(toolOf(), {}, viewOn('phone'))).toEqual({ next: 'run_action' })
  })

  it.each([
    [{ sms_content: fixed }, {}, 'See you, Ada.'],
    [{ sms_content: prompted }, { message: ' Booked. ' }, 'Booked.'],
    [{}, { message: 'x'.repeat(2000) }, 'x'.repeat(1530)],
    [{}, { message: ' ' }, null],
    [{}, {}, null],
  ])('the message of %j with the arguments %j is %j', (fields, args, text) =>
    expect(messageText(toolOf(fields), args, render)).toBe(text),
  )
})
