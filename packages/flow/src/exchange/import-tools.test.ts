import { describe, expect, it } from 'vitest'
import { actionOf, draft, unplaced, warned } from './testing/full-import.ts'

describe('imported tools', () => {
  it('every supported tool is imported as an action of its kind', () =>
    expect(draft.actions.map(action => `${action.action_id}: ${action.kind} ${action.name}`)).toEqual([
      'tool-slots: http find_slots',
      'tool_form: http send_form',
      'tool-bye: end_call end_call',
      'tool-desk: transfer_call to_desk',
      'tool-swap: agent_swap to_billing',
      'tool-keys: press_digit press_keys',
      'tool-sms: send_sms text_them',
      'tool-read: extract_dynamic_variables read_out',
      'book: http book',
      'tool-slots-2: http find_slots-2',
    ]))

  it('an imported HTTP tool keeps its request', () =>
    expect(actionOf('tool-slots')).toMatchObject({
      description: 'Finds free appointments',
      method: 'GET',
      url: 'https://api.example.com/slots?day={{day}}',
      headers: { 'X-Clinic': 'harbour' },
      query: { limit: '3' },
      parameters: { type: 'object', required: ['day'] },
      body_format: 'json',
      args_at_root: true,
      response_variables: { slot: '$.slots[0].time' },
      timeout_ms: 9000,
      speak_during_execution: true,
      speak_after_execution: false,
      auth: null,
      idempotency: 'none',
    }))

  it('an imported transfer tool keeps its number and the permitted headers', () => {
    expect(actionOf('tool-desk')).toMatchObject({
      transfer_destination: { type: 'predefined', number: '+34910000001', extension: '12' },
      transfer_option: { show_transferee_as_caller: true, transfer_ring_duration_ms: 20_000 },
      custom_sip_headers: { 'X-Desk': 'front' },
    })
    expect(unplaced['/flow/tools/tool-desk/custom_sip_headers/Subject']).toBe('no')
  })

  it('an unsupported tool and a tool that cannot be called are stored as unplaced, with a warning', () => {
    expect(warned('/flow/tools/9')).toContain('unsupported_capability')
    expect(warned('/flow/tools/10')).toEqual(['unsupported_capability'])
    expect(unplaced['/flow/tools/tool-nowhere']).toMatchObject({ url: 'https://{{host}}/x' })
    expect(warned('/flow/tools/2')).toEqual(['field_ignored'])
  })

  it('secrets in imported tools are not stored', () => {
    expect(unplaced['/flow/tools/tool-cal']).toEqual({
      type: 'check_availability_cal',
      tool_id: 'tool-cal',
      name: 'check_cal',
      event_type_id: 5,
    })
    expect(JSON.stringify(draft)).not.toContain('made-up')
    expect(warned('/flow/tools/9/cal_api_key')).toEqual(['field_ignored'])
  })
})
