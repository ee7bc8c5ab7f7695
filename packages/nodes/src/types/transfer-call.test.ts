import { describe, expect, it } from 'vitest'
import { boolean, nullable, optional } from '../testing/field-cases.ts'
import {
  actionSchemaFaults,
  draftWith,
  executionMessageCases,
  instructionCases,
  nodeSchemaFaults,
  slotCases,
  transferCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { transferCall } from './transfer-call.ts'

const phone = viewOn('phone', { who: 'Ann\r\nX: y' })
const to = (destination: object) => ({ transfer_destination: destination, custom_sip_headers: { 'X-Who': '{{who}}' } })
const predefined = to({ type: 'predefined', number: ' +15550100 ' })
const inferred = to({ type: 'inferred', prompt: 'Where to?' })
const edge = { id: 'failed', transition_condition: { type: 'prompt', prompt: 'Failed' }, destination_node_id: 'sorry' }
const nodeOf = (fields: object) => transferCall.schema.parse({ id: 't', type: 'transfer_call', edge, ...fields })
const transfer = {
  next: 'request',
  request: { type: 'transfer', destination: '+15550100', custom_sip_headers: { 'X-Who': 'Ann  X: y' } },
}
const failed = { next: 'fail', slot: 'edge' }
const cold = { type: 'cold_transfer', cold_transfer_mode: 'sip_refer', show_transferee_as_caller: false }

describe('a transfer_call node', () => {
  it('a transfer_call node accepts its fields within their bounds and names the field that it refuses', () => {
    expect(
      nodeSchemaFaults(transferCall, predefined, {
        ...transferCases,
        edge: slotCases,
        instruction: optional(nullable(instructionCases)),
        speak_during_execution: optional(boolean),
      }),
    ).toEqual([])
    expect(transferCall.slots).toEqual(['edge'])
  })

  it('a transfer is cold and by REFER by default', () =>
    expect(
      transferCall.schema.parse({
        id: 't',
        type: 'transfer_call',
        transfer_destination: { type: 'inferred', prompt: 'x' },
      }),
    ).toMatchObject({ transfer_option: cold, edge: null, custom_sip_headers: {} }))

  it('a warm transfer is stored unchanged', () => {
    const transfer_option = { type: 'warm_transfer', on_hold_music: 'ringtone' }
    expect(nodeOf({ ...predefined, transfer_option })).toMatchObject({ transfer_option })
  })

  it('a transfer_call node requests a transfer to its number, and a header value with a line break becomes one line', () => {
    expect(transferCall.enter?.(nodeOf(predefined), phone)).toEqual({ ...transfer, words: null })
  })

  it('a transfer_call node that speaks says its instruction before the transfer, and announces it where it has none', () => {
    const instruction = { type: 'static_text', text: 'One moment, I put you through.' }
    const speaking = { ...predefined, speak_during_execution: true }
    expect(transferCall.enter?.(nodeOf({ ...speaking, instruction }), phone)).toEqual({
      ...transfer,
      words: instruction,
    })
    expect(transferCall.enter?.(nodeOf(speaking), phone)).toMatchObject({ words: { type: 'prompt' } })
    expect(transferCall.check?.(nodeOf({ ...predefined, instruction }), draftWith({}))).toMatchObject([
      {
        severity: 'warning',
        code: 'not_executed',
        path: ['instruction'],
        fixes: [{ part: { speak_during_execution: true } }, { part: { instruction: null } }],
      },
    ])
  })

  it('a transfer_call node with an inferred destination asks the model and requests a transfer to its answer', () => {
    const node = nodeOf(inferred)
    expect(transferCall.enter?.(node, phone)).toMatchObject({ request: { purpose: 'transfer_destination' } })
    expect(transferCall.answer?.(node, { type: 'inferred', value: '+15550100' }, phone)).toEqual({
      ...transfer,
      words: null,
    })
  })

  it.each([null, ' ', 'x'.repeat(257)])(
    'a transfer_call node takes the failure edge without a request when the model infers the destination %j',
    value => {
      expect(transferCall.answer?.(nodeOf(inferred), { type: 'inferred', value }, phone)).toEqual(failed)
    },
  )

  it('a transfer_call node takes the failure edge on a channel other than the phone', () => {
    expect(transferCall.enter?.(nodeOf(predefined), viewOn('web'))).toEqual(failed)
  })

  it('an accepted transfer ends the conversation, any other outcome takes the failure edge', () => {
    const node = nodeOf(predefined)
    const settled = (outcome: 'taken' | 'failed') =>
      transferCall.answer?.(node, { type: 'transfer_result', outcome }, phone)
    expect(settled('taken')).toEqual({ next: 'end', outcome: 'transferred' })
    expect(settled('failed')).toEqual({ ...failed, actionOutcome: 'failed' })
    expect(transferCall.isEnding).toBe(true)
  })

  it('a transfer_call node without a failure edge yields an error, and the fix adds one that leads to an end node', () => {
    expect(transferCall.check?.(nodeOf(predefined), draftWith({}))).toEqual([])
    expect(transferCall.check?.(nodeOf({ ...predefined, edge: null }), draftWith({}))).toMatchObject([
      { severity: 'error', code: 'edge_dangling', path: ['edge'], fixes: [{ fix: 'add_edge_to_end', slot: 'edge' }] },
    ])
  })
})

/** A transfer that does not run as its fields say: the field and value, what the draft gets for it, and the fields of the fix. */
const UNSUPPORTED: readonly [string, object, string, readonly string[], object][] = [
  [
    'a warm transfer',
    { transfer_option: { type: 'warm_transfer' } },
    'warning not_executed',
    ['transfer_option', 'type'],
    { transfer_option: cold },
  ],
  [
    'a cold transfer by INVITE',
    { transfer_option: { ...cold, cold_transfer_mode: 'sip_invite' } },
    'warning not_executed',
    ['transfer_option', 'cold_transfer_mode'],
    { transfer_option: cold },
  ],
  [
    'an extension, which nobody can dial after a REFER',
    { transfer_destination: { type: 'predefined', number: '+15550100', extension: '12' } },
    'warning not_executed',
    ['transfer_destination', 'extension'],
    { transfer_destination: { extension: null } },
  ],
  [
    'show_transferee_as_caller, which the carrier decides after a REFER',
    { transfer_option: { ...cold, show_transferee_as_caller: true } },
    'warning field_ignored',
    ['transfer_option', 'show_transferee_as_caller'],
    { transfer_option: cold },
  ],
]

describe('a transfer that does not run as written', () => {
  it.each(UNSUPPORTED)('%s is a finding with a fix, in a node and in an action', (_, fields, finding, path, fixed) => {
    const [severity, code] = finding.split(' ')
    const expected = [{ severity, code, path, fixes: [{ fix: 'put', part: fixed }] }]
    const tool = { action_id: 't', kind: 'transfer_call', name: 't', ...predefined, ...fields }
    expect(transferCall.check?.(nodeOf({ ...predefined, ...fields }), draftWith({}))).toMatchObject(expected)
    expect(transferCall.action.check?.(transferCall.action.schema.parse(tool))).toMatchObject(expected)
  })

  it('a ring duration of a transfer yields a warning that it has no effect', () =>
    expect(
      transferCall.check?.(
        nodeOf({ ...predefined, transfer_option: { ...cold, transfer_ring_duration_ms: 20_000 } }),
        draftWith({}),
      ),
    ).toMatchObject([{ code: 'not_executed', path: ['transfer_option', 'transfer_ring_duration_ms'] }]))
})

describe('a transfer of an export', () => {
  it.each([
    [undefined, []],
    [{ type: 'cold_transfer' }, []],
    [{ type: 'cold_transfer', cold_transfer_mode: 'sip_invite' }, ['transfer_option']],
    [{ type: 'warm_transfer' }, ['transfer_option']],
  ])('a transfer with the option %j is imported with warnings about the fields %j', (option, fields) => {
    const source = { type: 'transfer_call', ...(option !== undefined && { transfer_option: option }) }
    expect(transferCall.importWarnings?.(source).map(({ field }) => field)).toEqual(fields)
    expect(transferCall.action.importWarnings?.(source).map(({ field }) => field)).toEqual(fields)
  })
})

describe('the transfer_call tool', () => {
  const { action } = transferCall
  const toolOf = (fields: object) =>
    action.schema.parse({ action_id: 't', kind: 'transfer_call', name: 't', ...fields })

  it('a transfer_call action accepts its fields within their bounds and names the field that it refuses', () =>
    expect(actionSchemaFaults(action, inferred, { ...transferCases, ...executionMessageCases })).toEqual([]))

  it('the transfer_call tool requests a transfer to the destination in the tool call', () => {
    expect(action.parameters(toolOf(inferred))).toMatchObject({ required: ['destination'] })
    expect(action.use(toolOf(inferred), { destination: '+15550100' }, phone)).toEqual({ ...transfer, result: null })
  })

  it('the transfer_call tool with a predefined number takes no arguments', () => {
    expect(action.parameters(toolOf(predefined))).toMatchObject({ properties: {} })
    expect(action.use(toolOf(predefined), {}, phone)).toEqual({ ...transfer, result: null })
  })

  it('a transfer_call tool call without a destination gives the model the result "failed"', () => {
    expect(action.use(toolOf(inferred), {}, phone)).toEqual({ next: 'result', result: 'failed' })
  })

  it('an accepted transfer by the tool ends the conversation, and the model speaks about a failed one', () => {
    const settled = (outcome: 'taken' | 'failed') =>
      action.answer?.(toolOf(predefined), { type: 'transfer_result', outcome })
    expect(settled('taken')).toEqual({ next: 'end', outcome: 'transferred' })
    expect(settled('failed')).toEqual({ next: 'speak', actionOutcome: 'failed' })
  })

  it('the transfer_call tool works on the phone only', () => expect(action.isPhoneOnly).toBe(true))
})
