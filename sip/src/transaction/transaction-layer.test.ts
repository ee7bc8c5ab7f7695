import { SeededRandom, VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { createResponse } from '../message/message-factory.ts'
import { parseDatagram } from '../message/parse-datagram.ts'
import type { Flow, SipTransport, TransportInput, TransportOutput } from '../transport/transport.ts'
import { aRequest } from './testing/machine-trace.ts'
import { DEFAULT_TIMERS } from './timers.ts'
import { TransactionLayer } from './transaction-layer.ts'

function flow(transport: Flow['transport'], remotePort = 5060): Flow {
  const remote = { address: '192.0.2.1', port: remotePort }
  const local = { address: '192.0.2.9', port: 5060 }
  return { id: `${transport}-${remotePort}`, transport, local, remote, origin: 'accepted', serverName: undefined }
}

function bench() {
  const outputs: TransportOutput[] = []
  const transport: SipTransport = {
    submit: output => outputs.push(output),
    onInput: () => {},
    advertised: () => ({ host: 'us.test', port: 5060 }),
  }
  const time = new VirtualTime()
  const told: string[] = []
  const requests: SipRequest[] = []
  const layer = new TransactionLayer({
    time,
    random: new SeededRandom(1),
    transport,
    timers: DEFAULT_TIMERS,
    clientLimit: 10,
    serverLimits: { total: 10, perFlow: 10, finished: 20 },
    user: {
      onRequest: request => {
        requests.push(request)
        told.push(request.method)
      },
      onAck: request => told.push(`${request.method}`),
    },
  })
  const receive = (message: SipRequest | SipResponse, on = flow('udp')) => {
    const input: TransportInput = { type: 'message', flow: on, result: { ok: true, message, faults: [] } }
    layer.handle(input)
  }
  const sends = () => outputs.filter(output => output.type === 'send')
  return { time, layer, receive, told, requests, sends }
}

const withVia = (request: SipRequest, via: Partial<SipRequest['via'][number]>): SipRequest => ({
  ...request,
  via: [{ ...request.via[0]!, ...via }],
})

describe('matching to server transactions (17.2.3)', () => {
  it('the same branch, sent-by and method is a retransmission; another sent-by or method is not', () => {
    const { layer, receive, told } = bench()
    const invite = aRequest()
    receive(invite)
    layer.servers.start(invite, flow('udp'), {})
    receive(invite)
    expect(told).toEqual(['INVITE'])
    receive(withVia(invite, { port: 5070 }))
    receive({ ...aRequest('OPTIONS'), via: invite.via })
    expect(told).toEqual(['INVITE', 'INVITE', 'OPTIONS'])
  })

  it('the ACK to a 300-699 is absorbed by its INVITE transaction, the ACK to a 2xx goes to the dialog', () => {
    for (const [status, expected] of [
      [486, []],
      [200, ['ACK']],
    ] as const) {
      const { layer, receive, told } = bench()
      const invite = aRequest()
      layer.servers.start(invite, flow('udp'), {})?.respond(createResponse(invite, status, { toTag: 't' }))
      receive({ ...aRequest('ACK'), via: invite.via })
      expect(told).toEqual(expected)
    }
  })

  it('requests without the magic cookie (RFC 2543) are matched by Call-ID, CSeq, From tag and Request-URI', () => {
    const { layer, receive, told } = bench()
    const old = withVia(aRequest(), { params: new Map([['branch', '1']]) })
    layer.servers.start(old, flow('udp'), {})
    receive(old)
    expect(told).toEqual([])
    receive({ ...old, callId: 'another' })
    receive({ ...old, cseq: { sequence: 2, method: 'INVITE' } })
    expect(told).toEqual(['INVITE', 'INVITE'])
    receive({ ...withVia(aRequest('ACK'), { params: new Map([['branch', '1']]) }), to: old.to })
    expect(told).toEqual(['INVITE', 'INVITE'])
  })

  it("a CANCEL finds its INVITE by the INVITE's branch and is answered with the same To tag", () => {
    const { layer, receive, told, sends } = bench()
    const invite = aRequest()
    const cancels: string[] = []
    const transaction = layer.servers.start(invite, flow('udp'), { onCancel: cancel => cancels.push(cancel.method) })
    transaction?.respond(createResponse(invite, 180, { toTag: 'ours' }))
    receive({ ...aRequest('CANCEL'), via: invite.via })
    expect(cancels).toEqual(['CANCEL'])
    const text = new TextDecoder().decode(sends().at(-1)?.bytes)
    expect(text).toMatch(/^SIP\/2\.0 200 /)
    expect(text).toContain(';tag=ours')
    receive(withVia(aRequest('CANCEL'), { params: new Map([['branch', 'z9hG4bKother']]) }))
    expect(told).toEqual(['CANCEL'])
  })

  it('the number of server transactions is limited', () => {
    const { layer } = bench()
    for (let i = 0; i < 10; i++) {
      const invite = withVia(aRequest(), { params: new Map([['branch', `z9hG4bK${i}`]]) })
      expect(layer.servers.start(invite, flow('udp'), {})).toBeDefined()
    }
    const invite = withVia(aRequest(), { params: new Map([['branch', 'z9hG4bKmore']]) })
    expect(layer.servers.start(invite, flow('udp'), {})).toBeUndefined()
    layer.stop()
    expect(layer.size).toBe(0)
  })
})

describe('finished server transactions', () => {
  const byeNumber = (i: number) => withVia(aRequest('BYE'), { params: new Map([['branch', `z9hG4bK${i}`]]) })
  const textOf = (send: { readonly bytes: Uint8Array } | undefined) => new TextDecoder().decode(send?.bytes)

  it('transactions that only answer retransmissions do not count against the limit of their flow', () => {
    const { layer } = bench()
    for (let i = 0; i < 1000; i++) {
      const bye = byeNumber(i)
      const transaction = layer.servers.start(bye, flow('udp'), {})
      expect(transaction).toBeDefined()
      transaction!.respond(createResponse(bye, 200))
    }
    expect(layer.size).toBeLessThanOrEqual(20)
  })

  it('a retransmission gets the final response again for 32 s, from the newest transactions at least', () => {
    const { time, layer, receive, told, sends } = bench()
    for (let i = 0; i < 25; i++) {
      receive(byeNumber(i))
      layer.servers.start(byeNumber(i), flow('udp'), {})?.respond(createResponse(byeNumber(i), 200, { toTag: `t${i}` }))
    }
    time.advance(31_900)
    for (let i = 10; i < 25; i++) {
      receive(byeNumber(i))
      expect(textOf(sends().at(-1))).toContain(`;branch=z9hG4bK${i}\r\n`)
    }
    expect(told).toHaveLength(25)
    time.advance(400)
    expect(layer.size).toBe(0)
    receive(byeNumber(24))
    expect(told).toHaveLength(26)
  })

  it('an INVITE whose 2xx is acknowledged absorbs retransmissions, and a CANCEL of it is answered', () => {
    const { time, layer, receive, told, sends } = bench()
    const invite = aRequest()
    const transaction = layer.servers.start(invite, flow('udp'), { onCancel: () => told.push('cancelled') })
    transaction?.respond(createResponse(invite, 200, { toTag: 'ours' }))
    transaction?.finish()
    const sent = sends().length
    receive(invite)
    expect([told, sends().length]).toEqual([[], sent])
    receive({ ...aRequest('CANCEL'), via: invite.via })
    expect(textOf(sends().at(-1))).toContain(';tag=ours')
    expect(layer.servers.isMerged(invite)).toBe(true)
    time.advance(32_000)
    expect([layer.size, layer.servers.isMerged(invite)]).toEqual([0, false])
  })

  it('an INVITE that was refused absorbs repeated ACKs', () => {
    const { time, layer, receive, told } = bench()
    const invite = aRequest()
    layer.servers.start(invite, flow('udp'), {})?.respond(createResponse(invite, 486, { toTag: 't' }))
    const ack = { ...aRequest('ACK'), via: invite.via }
    receive(ack)
    receive(ack)
    expect(told).toEqual([])
    time.advance(5000)
    expect(layer.size).toBe(0)
  })
})

describe('where responses go (18.2.2, RFC 3581)', () => {
  const sentTo = (request: SipRequest, on: Flow, alive = true) => {
    const { layer, receive, requests, sends } = bench()
    receive(request, on)
    if (!alive) layer.handle({ type: 'flow-closed', flow: on, code: 'eof' })
    const arrived = requests[0]!
    layer.servers.respondStatelessly(arrived, on, createResponse(arrived, 200))
    const send = sends()[0]!
    return { to: send.to, via: arrived.via[0]!, bytes: send.bytes }
  }

  it('UDP without rport: to the source address, at the port of the sent-by', () => {
    const { to, via } = sentTo(withVia(aRequest('OPTIONS'), { port: 5062 }), flow('udp', 40_000))
    expect(to).toMatchObject({ target: { address: '192.0.2.1', port: 5062, transport: 'udp' } })
    expect(via.params.get('received')).toBe('192.0.2.1')
    expect(via.params.has('rport')).toBe(false)
  })

  it('UDP with rport: back to the source port', () => {
    const params = new Map<string, string | null>([
      ['branch', 'z9hG4bK1'],
      ['rport', null],
    ])
    const on = flow('udp', 40_000)
    const { to, via } = sentTo(withVia(aRequest('OPTIONS'), { params }), on)
    expect(to).toEqual({ flow: on })
    expect(via.params.get('rport')).toBe('40000')
  })

  it('a stream: on the connection of the request, or if that has closed on a new one to the source address at the sent-by port', () => {
    const on = flow('tls', 40_000)
    const request = withVia(aRequest('OPTIONS'), { transport: 'TLS', host: 'peer.test', port: undefined })
    expect(sentTo(request, on).to).toEqual({ flow: on })
    expect(sentTo(request, on, false).to).toEqual({
      target: { address: '192.0.2.1', port: 5061, transport: 'tls', serverName: 'peer.test' },
    })
  })

  it('neither maddr nor a received parameter written by the sender changes the destination', () => {
    const params = new Map([
      ['branch', 'z9hG4bK1'],
      ['maddr', '203.0.113.7'],
      ['received', '203.0.113.8'],
    ])
    const { to } = sentTo(withVia(aRequest('OPTIONS'), { host: '192.0.2.1', params }), flow('udp'))
    expect(JSON.stringify(to)).not.toContain('203.0.113')
  })
})

describe('matching to client transactions (17.1.3, 18.1.2)', () => {
  const started = () => {
    const all = bench()
    const heard: number[] = []
    const target = { address: '192.0.2.1', port: 5060, transport: 'udp', serverName: 'x' } as const
    const request = { ...aRequest('OPTIONS'), via: [] }
    all.layer.clients.start(
      request,
      { target },
      { onResponse: ({ status }) => heard.push(status), onFailure: () => {} },
    )
    const sent = parseDatagram(all.sends()[0]!.bytes)
    if (!sent.ok || sent.message.kind !== 'request') throw new Error('not a request')
    return { ...all, heard, response: createResponse(sent.message, 200, { toTag: 't' }) }
  }

  it('a response is matched to its request', () => {
    const { receive, heard, response } = started()
    receive(response)
    expect(heard).toEqual([200])
  })

  it.each([
    [
      'another branch',
      (r: SipResponse) => ({ ...r, via: [{ ...r.via[0]!, params: new Map([['branch', 'z9hG4bKx']]) }] }),
    ],
    ['another method', (r: SipResponse) => ({ ...r, cseq: { ...r.cseq, method: 'INVITE' } })],
    ['a sent-by that is not ours', (r: SipResponse) => ({ ...r, via: [{ ...r.via[0]!, host: 'evil.test' }] })],
    ['two Vias', (r: SipResponse) => ({ ...r, via: [...r.via, ...r.via] })],
    ['another Call-ID', (r: SipResponse) => ({ ...r, callId: 'x' })],
    ['another CSeq number', (r: SipResponse) => ({ ...r, cseq: { ...r.cseq, sequence: 99 } })],
  ])('a response with %s is dropped', (_what, change) => {
    const { receive, heard, response } = started()
    receive(change(response))
    expect(heard).toEqual([])
  })
})

describe('a request whose connection is gone', () => {
  it('a request whose connection is gone is sent once more', () => {
    const { layer, sends } = bench()
    const failures: string[] = []
    const target = { address: '192.0.2.1', port: 5061, transport: 'tls', serverName: 'x' } as const
    const request = { ...aRequest('OPTIONS'), via: [] }
    layer.clients.start(request, { target }, { onResponse: () => {}, onFailure: ({ code }) => failures.push(code) })
    const fail = () => {
      const { sendId } = sends().at(-1)!
      layer.handle({ type: 'send-failed', sendId, code: 'closed', detail: 'the flow is gone' })
    }
    fail()
    expect(sends().map(({ to }) => to)).toEqual([{ target }, { target }])
    expect(sends()[1]!.bytes).toEqual(sends()[0]!.bytes)
    fail()
    expect(sends()).toHaveLength(2)
    expect(failures).toEqual(['closed'])
  })
})
