import { describe, expect, it } from 'vitest'
import { NonInviteClientTransaction } from './non-invite-client.ts'
import { aResponse, MachineTrace } from './testing/machine-trace.ts'
import { DEFAULT_TIMERS, timersFor } from './timers.ts'

const run = (reliable = false) =>
  new MachineTrace(now => new NonInviteClientTransaction(now, timersFor(DEFAULT_TIMERS, reliable)))
const response = (status: number) => ({ type: 'response', response: aResponse(status, 'BYE') }) as const

describe('non-INVITE client transaction, RFC 3261 figure 6', () => {
  it('Trying: Timer E doubles up to T2, Timer F ends it at 64*T1', () => {
    expect(run().until(100_000)).toEqual([
      ...[0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500].map(at => `${at} send-request`),
      '32000 timeout',
      '32000 terminated',
    ])
  })

  it('Proceeding: retransmitted every T2, and Timer F goes on', () => {
    expect(run().at(600, response(100)).until(100_000)).toEqual([
      '0 send-request',
      '500 send-request',
      '600 response 100',
      ...[1500, 5500, 9500, 13_500, 17_500, 21_500, 25_500, 29_500].map(at => `${at} send-request`),
      '32000 timeout',
      '32000 terminated',
    ])
  })

  it('Completed: the response is reported once, repetitions are absorbed, Timer K', () => {
    expect(run().at(100, response(200)).at(900, response(200)).until(100_000)).toEqual([
      '0 send-request',
      '100 response 200',
      '5100 terminated',
    ])
  })

  it('over a reliable transport: no Timer E, Timer K is zero', () => {
    expect(run(true).until(100_000)).toEqual(['0 send-request', '32000 timeout', '32000 terminated'])
    expect(run(true).at(100, response(481)).until(100_000).slice(1)).toEqual(['100 response 481', '100 terminated'])
  })

  it('a transport error ends Trying, not Completed', () => {
    const error = { type: 'transport-error' } as const
    expect(run().at(10, error).until(100_000).slice(1)).toEqual(['10 transport-error', '10 terminated'])
    expect(run().at(5, response(200)).at(10, error).until(100_000).slice(1)).toEqual([
      '5 response 200',
      '5005 terminated',
    ])
  })
})
