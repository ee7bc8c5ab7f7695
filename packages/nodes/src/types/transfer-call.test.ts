import { describe, expect, it } from 'vitest'
import { transferCall } from './transfer-call.ts'

const phone = { channel: 'phone' as const, render: (template: string) => template.replace('{{who}}', 'Ann\r\nX: y') }
const to = (destination: object) => ({ transfer_destination: destination, custom_sip_headers: { 'X-Who': '{{who}}' } })
const predefined = to({ type: 'predefined', number: ' +15550100 ' })
const inferred = to({ type: 'inferred', prompt: 'Where to?' })
const nodeOf = (fields: object) => transferCall.schema.parse({ id: 't', type: 'transfer_call', ...fields })
const transfer = {
  next: 'request',
  request: { type: 'transfer', destination: '+15550100', custom_sip_headers: { 'X-Who': 'Ann  X: y' } },
}
const failed = { next: 'fail', slot: 'edge' }

describe('a transfer_call node', () => {
  it('a transfer_call node requests a transfer to its number, and a header value with a line break becomes one line', () => {
    expect(transferCall.enter?.(nodeOf(predefined), phone)).toEqual(transfer)
  })

  it('a transfer_call node with an inferred destination asks the model and requests a transfer to its answer', () => {
    const node = nodeOf(inferred)
    expect(transferCall.enter?.(node, phone)).toMatchObject({ request: { purpose: 'transfer_destination' } })
    expect(transferCall.answer?.(node, { type: 'inferred', value: '+15550100' }, phone)).toEqual(transfer)
  })

  it.each([null, ' ', 'x'.repeat(257)])(
    'a transfer_call node takes the failure edge without a request when the model infers the destination %j',
    value => {
      expect(transferCall.answer?.(nodeOf(inferred), { type: 'inferred', value }, phone)).toEqual(failed)
    },
  )

  it('a transfer_call node takes the failure edge on a channel other than the phone', () => {
    expect(transferCall.enter?.(nodeOf(predefined), { ...phone, channel: 'web' })).toEqual(failed)
  })

  it('an accepted transfer ends the conversation, any other outcome takes the failure edge', () => {
    const node = nodeOf(predefined)
    const settled = (outcome: 'taken' | 'failed') =>
      transferCall.answer?.(node, { type: 'transfer_result', outcome }, phone)
    expect(settled('taken')).toEqual({ next: 'end', outcome: 'transferred' })
    expect(settled('failed')).toEqual({ ...failed, actionOutcome: 'failed' })
  })
})

describe('the transfer_call tool', () => {
  const tool = transferCall.action.schema.parse({ action_id: 't', kind: 'transfer_call', name: 't', ...inferred })

  it('the transfer_call tool requests a transfer to the destination in the tool call', () => {
    expect(transferCall.action.use(tool, { destination: '+15550100' }, phone)).toEqual({ ...transfer, result: null })
  })

  it('a transfer_call tool call without a destination gives the model the result "failed"', () => {
    expect(transferCall.action.use(tool, {}, phone)).toEqual({ next: 'result', result: 'failed' })
  })
})
