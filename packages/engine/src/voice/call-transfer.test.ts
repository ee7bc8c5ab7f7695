import type { CallLeg } from '@parley/leg'
import { serialiseUri, type Uri } from '@parley/sip'
import { expect, it } from 'vitest'
import { CallTransfer } from './call-transfer.ts'
import type { TransferRules } from './voice-agent.ts'

const REQUEST = { type: 'transfer', destination: '+4930123456', custom_sip_headers: {} } as const

function transfer(rules?: TransferRules) {
  const targets: string[] = []
  const answers: unknown[] = []
  const leg = {
    peerHost: 'sbc.example',
    transfer: (target: Uri) => void targets.push(serialiseUri(target)),
  } as unknown as CallLeg
  new CallTransfer(leg, rules, (_id, answer) => void answers.push(answer)).start('request', REQUEST)
  return { targets, answers }
}

it('a transfer refers the far end to the E.164 number at its own host', () => {
  expect(transfer()).toEqual({ targets: ['sip:+4930123456@sbc.example;user=phone'], answers: [] })
})

it('a transfer writes the number as the trunk expects it', () => {
  const { targets } = transfer({ refer: true, written: number => number.slice(1) })
  expect(targets).toEqual(['sip:4930123456@sbc.example;user=phone'])
})

it('a transfer fails at once on a trunk that takes no REFER', () => {
  const { targets, answers } = transfer({ refer: false, written: number => number })
  expect(targets).toEqual([])
  expect(answers).toEqual([{ type: 'transfer_result', outcome: 'failed' }])
})
