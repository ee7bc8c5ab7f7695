import { describe, expect, it } from 'vitest'
import { InviteClientTransaction } from './invite-client.ts'
import { aResponse, MachineTrace } from './testing/machine-trace.ts'
import { DEFAULT_TIMERS, timersFor } from './timers.ts'

const run = (reliable = false) =>
  new MachineTrace(now => new InviteClientTransaction(now, timersFor(DEFAULT_TIMERS, reliable)))
const response = (status: number) => ({ type: 'response', response: aResponse(status) }) as const

describe('INVITE client transaction, RFC 3261 figure 5', () => {
  it('Calling: Timer A doubles from T1, Timer B ends it at 64*T1', () => {
    expect(run().until(100_000)).toEqual([
      '0 send-request',
      '500 send-request',
      '1500 send-request',
      '3500 send-request',
      '7500 send-request',
      '15500 send-request',
      '31500 send-request',
      '32000 timeout',
      '32000 terminated',
    ])
  })

  it('Calling over a reliable transport: no Timer A', () => {
    expect(run(true).until(100_000)).toEqual(['0 send-request', '32000 timeout', '32000 terminated'])
  })

  it('Calling -> Proceeding: a 1xx stops Timers A and B for good', () => {
    expect(run().at(600, response(100)).at(9000, response(180)).until(1_000_000)).toEqual([
      '0 send-request',
      '500 send-request',
      '600 response 100',
      '9000 response 180',
    ])
  })

  it('Calling or Proceeding -> Completed: ACK for the 300-699 and for each of its retransmissions, reported once, Timer D', () => {
    for (const before of [[], [180]]) {
      const trace = run()
      for (const status of before) trace.at(50, response(status))
      const lines = trace.at(100, response(486)).at(700, response(486)).at(800, response(200)).until(100_000)
      expect(lines.slice(1 + before.length)).toEqual([
        '100 send-ack 486',
        '100 response 486',
        '700 send-ack 486',
        '32100 terminated',
      ])
    }
  })

  it('Completed over a reliable transport: Timer D is zero', () => {
    expect(run(true).at(100, response(404)).until(100_000).slice(1)).toEqual([
      '100 send-ack 404',
      '100 response 404',
      '100 terminated',
    ])
  })

  it('RFC 6026, Accepted: every 2xx is passed to the TU until Timer M, anything else is discarded', () => {
    const trace = run(true).at(100, response(200)).at(600, response(200)).at(700, response(486)).at(800, response(180))
    expect(trace.until(100_000).slice(1)).toEqual(['100 response 200', '600 response 200', '32100 terminated'])
  })

  it('a transport error ends Calling and Proceeding and is ignored later', () => {
    const error = { type: 'transport-error' } as const
    expect(run().at(10, error).until(100_000).slice(1)).toEqual(['10 transport-error', '10 terminated'])
    expect(run().at(5, response(180)).at(10, error).until(100_000).slice(2)).toEqual([
      '10 transport-error',
      '10 terminated',
    ])
    expect(run().at(5, response(200)).at(10, error).until(100_000).slice(1)).toEqual([
      '5 response 200',
      '32005 terminated',
    ])
  })
})
