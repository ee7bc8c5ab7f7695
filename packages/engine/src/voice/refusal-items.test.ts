import { parseUri } from '@parley/leg'
import { expect, it } from 'vitest'
import { AudioHarness } from '../testing/audio-harness.ts'
import { greeter } from '../testing/drafts.ts'
import { refusalItem } from './refusal-items.ts'

const receipt = { referStatus: 202, finalSipStatus: null, disconnectReason: null }

it.each([
  [
    { type: 'refer-refused', status: 403, target: 'sip:boss@pbx.example' },
    'transfer_refused',
    'the far end asked to be transferred to sip:boss@pbx.example; Parley answered 403',
  ],
  [
    { type: 'redirected', status: 302, targets: ['sip:+493012345@carrier.example'] },
    'call_redirected',
    'the far end answered 302 and named sip:+493012345@carrier.example, which was not called',
  ],
  [
    { type: 'transfer-result', taken: false, receipt: { ...receipt, referStatus: 603 } },
    'transfer_failed',
    'the far end answered the REFER with 603',
  ],
  [
    { type: 'transfer-result', taken: false, receipt: { ...receipt, finalSipStatus: 486 } },
    'transfer_failed',
    'the far end called the target, which answered 486',
  ],
] as const)('the timeline item of %j has the code %s', (event, code, message) => {
  expect(refusalItem(event)).toEqual({ kind: 'error', code, message })
})

it('a caller who asks to be transferred is refused, which stands in the timeline of the call, and the call goes on', async () => {
  const harness = await AudioHarness.open({ draft: greeter })
  await harness.pass(1000)
  harness.caller.transfer(parseUri('sip:boss@pbx.example')!)
  await harness.pass(1000)
  expect(harness.timeline('error')).toMatchObject([
    { code: 'transfer_refused', message: expect.stringContaining('transferred to sip:boss@pbx.example') },
  ])
  expect(harness.caller.state).toBe('active')
})

it('a transfer that succeeded adds no timeline item', () => {
  expect(refusalItem({ type: 'transfer-result', taken: true, receipt })).toBeNull()
})
