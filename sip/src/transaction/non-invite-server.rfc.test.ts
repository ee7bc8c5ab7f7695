import { describe, expect, it } from 'vitest'
import { NonInviteServerTransaction } from './non-invite-server.ts'
import { aResponse, MachineTrace } from './testing/machine-trace.ts'
import { DEFAULT_TIMERS, timersFor } from './timers.ts'

const run = (reliable = false) =>
  new MachineTrace(
    now => new NonInviteServerTransaction(now, timersFor(DEFAULT_TIMERS, reliable), () => aResponse(100, 'BYE')),
  )
const respond = (status: number) => ({ type: 'respond', response: aResponse(status, 'BYE') }) as const
const again = { type: 'request' } as const

describe('non-INVITE server transaction, RFC 3261 figure 8 and RFC 4320', () => {
  it('Trying: repetitions are absorbed, the response is sent once', () => {
    expect(run().at(10, again).at(20, respond(200)).until(400)).toEqual(['20 send-response 200'])
  })

  it('Completed: each repeated request gets the response, until Timer J', () => {
    expect(run().at(0, respond(200)).at(500, again).at(1500, again).until(100_000)).toEqual([
      '0 send-response 200',
      '500 send-response 200',
      '1500 send-response 200',
      '32000 terminated',
    ])
    expect(run(true).at(0, respond(200)).until(100_000)).toEqual(['0 send-response 200', '0 terminated'])
  })

  it("RFC 4320 section 4.1: 100 only when the client's Timer E has reached T2, and no other provisional", () => {
    expect(run().at(1000, respond(183)).at(1500, again).at(4000, again).at(5000, respond(200)).until(6000)).toEqual([
      '3500 send-response 100',
      '4000 send-response 100',
      '5000 send-response 200',
    ])
  })

  it('RFC 4320 section 4.2: never a 408, and nothing after Timer F', () => {
    expect(run().at(1000, respond(408)).at(40_000, respond(200)).until(100_000)).toEqual([
      '3500 send-response 100',
      '32000 terminated',
    ])
  })
})
