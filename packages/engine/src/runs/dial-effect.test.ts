import type { EffectLedger } from '@parley/conversation'
import { expect, it } from 'vitest'
import { DialEffect } from './dial-effect.ts'

it('the effect of a call has a receipt for each Call-ID that was dialled, the last one that of the call', async () => {
  const settled: unknown[] = []
  const ledger = {
    sending: async () => {},
    settle: async (_effectId: string, outcome: unknown) => {
      settled.push(outcome)
    },
  } as unknown as EffectLedger
  const effect = new DialEffect(ledger, 'effect')
  // The same target again, with credentials; then the next target.
  for (const callId of ['first', 'first', 'second']) await effect.sending(callId)
  await effect.answered('second')
  const receipts = ['first', 'second'].map(id => ({ kind: 'sip_dial', participant_id: id, sip_call_id: id }))
  expect(settled).toEqual([{ state: 'succeeded', receipts }])
})
