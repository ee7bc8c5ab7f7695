import { describe, expect, it } from 'vitest'
import { InviteServerTransaction } from './invite-server.ts'
import { aResponse, MachineTrace } from './testing/machine-trace.ts'
import { DEFAULT_TIMERS, timersFor } from './timers.ts'

const run = (reliable = false) =>
  new MachineTrace(() => new InviteServerTransaction(0, timersFor(DEFAULT_TIMERS, reliable), () => aResponse(100)))
const respond = (status: number) => ({ type: 'respond', response: aResponse(status) }) as const
const again = { type: 'request' } as const
const ack = { type: 'ack' } as const

describe('INVITE server transaction, RFC 3261 figure 7', () => {
  it('Proceeding: 100 after 200 ms without a response of the TU; a repeated INVITE gets the latest provisional response', () => {
    expect(run().at(250, again).at(300, respond(180)).at(600, again).until(1_000_000)).toEqual([
      '200 send-response 100',
      '250 send-response 100',
      '300 send-response 180',
      '600 send-response 180',
    ])
  })

  it('Proceeding: no 100 where the TU responds within 200 ms; an INVITE that is repeated before gets one', () => {
    expect(run().at(199, respond(180)).until(1_000_000)).toEqual(['199 send-response 180'])
    expect(run().at(50, again).until(1_000_000)).toEqual(['50 send-response 100'])
  })

  it('Completed: Timer G doubles up to T2, Timer H gives up; a repeated INVITE gets the response too', () => {
    expect(run().at(0, respond(486)).at(100, again).until(100_000)).toEqual([
      '0 send-response 486',
      '100 send-response 486',
      ...[500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500].map(at => `${at} send-response 486`),
      '32000 timeout',
      '32000 terminated',
    ])
  })

  it('Completed over a reliable transport: no Timer G, Timer H', () => {
    expect(run(true).at(0, respond(486)).until(100_000)).toEqual([
      '0 send-response 486',
      '32000 timeout',
      '32000 terminated',
    ])
  })

  it('Confirmed: the ACK stops everything, Timer I absorbs its repetitions', () => {
    const lines = run().at(0, respond(486)).at(200, ack).at(300, ack).at(400, again).until(100_000)
    expect(lines.slice(1)).toEqual(['200 acknowledged', '5200 terminated'])
    expect(run(true).at(0, respond(486)).at(200, ack).until(100_000).slice(1)).toEqual([
      '200 acknowledged',
      '200 terminated',
    ])
  })

  it('RFC 6026, Accepted: the TU repeats its 2xx, INVITEs are absorbed, Timer L', () => {
    const trace = run().at(0, respond(200)).at(100, again).at(500, respond(200)).at(600, respond(486))
    expect(trace.until(100_000)).toEqual(['0 send-response 200', '500 send-response 200', '32000 terminated'])
  })

  it('after a final response nothing else goes out', () => {
    expect(run().at(0, respond(486)).at(10, respond(200)).at(20, respond(180)).until(400)).toEqual([
      '0 send-response 486',
    ])
  })
})
