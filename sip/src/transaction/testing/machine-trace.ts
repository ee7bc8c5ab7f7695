import { type Machine, MachineDriver, VirtualTime } from '@parley/kernel'
import type { NameAddr, SipRequest, SipResponse } from '../../message/message.ts'
import { createRequest, createResponse } from '../../message/message-factory.ts'

export function aRequest(method = 'INVITE'): SipRequest {
  const uri = (user: string) =>
    ({ scheme: 'sip', user, password: undefined, host: 'x', port: undefined, params: new Map(), headers: [] }) as const
  const address = (user: string, tag?: string): NameAddr => ({
    displayName: undefined,
    uri: uri(user),
    params: new Map(tag === undefined ? [] : [['tag', tag]]),
  })
  return createRequest({
    method,
    uri: uri('b'),
    via: [{ transport: 'UDP', host: 'a', port: 5060, params: new Map([['branch', 'z9hG4bK1']]) }],
    from: address('a', 'from'),
    to: address('b'),
    callId: 'call',
    cseq: { sequence: 1, method },
  })
}

export function aResponse(status: number, method = 'INVITE'): SipResponse {
  return createResponse(aRequest(method), status, status === 100 ? {} : { toTag: 'to' })
}

/** Runs a machine in virtual time and records its outputs with their times: "500 send-request". */
export class MachineTrace<Input> {
  readonly time = new VirtualTime()
  readonly lines: string[] = []
  readonly #driver: MachineDriver<Input, { readonly type: string; readonly response?: SipResponse }>

  constructor(make: (now: number) => Machine<Input, { readonly type: string; readonly response?: SipResponse }>) {
    this.#driver = new MachineDriver(make(0), this.time, output => {
      const status = output.response === undefined ? '' : ` ${output.response.status}`
      this.lines.push(`${this.time.now()} ${output.type}${status}`)
    })
  }

  at(instant: number, input: Input): this {
    this.time.advanceTo(instant)
    this.#driver.handle(input)
    return this
  }

  until(instant: number): string[] {
    this.time.advanceTo(instant)
    return this.lines
  }
}
