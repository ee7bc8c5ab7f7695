import { describe, expect, it } from 'vitest'
import { parseIpNetwork } from '../transport/ip-network.ts'
import type { TransportName } from '../transport/transport.ts'
import { Pair, sdp } from './testing/pair.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

/** A call over `transport`, and an attacker at 10.0.0.66 that knows its Call-ID and tags. */
function overheardCall(transport: TransportName, options: ConstructorParameters<typeof Pair>[0] = {}) {
  const pair = new Pair({ transport, ...options })
  const { caller, callee } = pair.established()
  const attacker = new ScriptedPeer(pair.network, '10.0.0.66', 'attacker.test')
  const { callId, localTag, remoteTag, remoteSequence } = callee.session.dialog!
  let sent = 0
  const send = (method: string, over: TransportName, sequence = (remoteSequence ?? 0) + 1, body = '') => {
    const text = requestText({
      method,
      uri: 'sip:bob@b.test',
      via: `SIP/2.0/${over.toUpperCase()} 10.0.0.66;rport`,
      branch: `z9hG4bKforeign${++sent}`,
      callId,
      fromTag: remoteTag,
      toTag: localTag,
      cseq: sequence,
      ...(body !== '' && { body, headers: ['Content-Type: application/dtmf-relay'] }),
    })
    attacker.sendText(text, { address: '10.0.0.2', transport: over })
    pair.time.advance(100)
    return attacker.responses.at(-1)?.status
  }
  return { pair, caller, callee, attacker, send, sequence: remoteSequence ?? 0 }
}

describe('in-dialog requests from elsewhere than the peer', () => {
  it.each(['udp', 'tcp'] as const)(
    'a BYE over %s with the tags of a call over TLS gets 481 and does not end it',
    over => {
      const { pair, callee, send } = overheardCall('tls')
      const { flow } = callee.session
      expect(send('BYE', over)).toBe(481)
      expect([callee.session.state, callee.session.flow?.id]).toEqual(['confirmed', flow?.id])
      expect(pair.b.logs.map(({ event }) => event)).toContain('foreign_request')
    },
  )

  it('the guard decides whether such a request is answered at all', () => {
    const { callee, send, attacker } = overheardCall('tls', {
      guard: (_request, flow) => ({ action: flow.remote.address === '10.0.0.66' ? 'drop' : 'accept' }),
    })
    expect(send('BYE', 'udp')).toBeUndefined()
    expect(attacker.heard).toEqual([])
    expect(callee.session.state).toBe('confirmed')
  })

  it('a call over UDP takes requests of its peer over TCP and TLS', () => {
    for (const over of ['tcp', 'tls'] as const) {
      const { pair, caller, callee, send } = overheardCall('udp')
      pair.b.transport.names.push('a.test')
      expect(send('BYE', over)).toBe(200)
      expect(callee.end).toMatchObject({ cause: 'bye', by: 'remote' })
      expect(caller.session.state).toBe('confirmed')
    }
  })

  it("a BYE from an address that is not the trunk's gets 481, one from its networks ends the call", () => {
    const sources = [parseIpNetwork('10.0.0.0/30')!]
    const guarded = overheardCall('udp', { guard: () => ({ action: 'accept', sources }) })
    expect(guarded.send('BYE', 'udp')).toBe(481)
    expect(guarded.callee.session.state).toBe('confirmed')
    const open = overheardCall('udp', {
      guard: () => ({ action: 'accept', sources: [parseIpNetwork('10.0.0.64/28')!] }),
    })
    expect(open.send('BYE', 'udp')).toBe(200)
    expect(open.callee.session.state).toBe('terminated')
  })

  it('an outbound call to a trunk with known networks takes requests from them and from its next hop only', () => {
    const pair = new Pair()
    const caller = pair.call({ sources: [parseIpNetwork('192.0.2.0/24')!] })
    pair.time.advance(200)
    const callee = pair.b.calls.at(-1)!
    callee.session.answer(sdp('answer'))
    pair.time.advance(200)
    const attacker = new ScriptedPeer(pair.network, '10.0.0.66', 'attacker.test')
    const { callId, localTag, remoteTag } = caller.session.dialog!
    const bye = requestText({ method: 'BYE', host: '10.0.0.66', callId, fromTag: remoteTag, toTag: localTag, cseq: 9 })
    attacker.sendText(bye, { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(100)
    expect([attacker.responses.at(-1)?.status, caller.session.state]).toEqual([481, 'confirmed'])
    callee.session.hangUp()
    pair.time.advance(100)
    expect(caller.end).toMatchObject({ cause: 'bye', by: 'remote' })
  })

  it('an out-of-order request gets 500 and does not move the dialog to its connection', () => {
    const { callee, send, sequence } = overheardCall('udp')
    const { flow } = callee.session
    expect(send('INFO', 'udp', sequence - 1)).toBe(500)
    expect(callee.session.flow?.id).toBe(flow?.id)
  })

  it('an ACK that belongs to no 2xx does not move the dialog to its connection', () => {
    const { callee, send, sequence } = overheardCall('udp')
    const { flow } = callee.session
    send('ACK', 'udp', sequence + 7)
    expect(callee.session.flow?.id).toBe(flow?.id)
  })
})

describe('a request of the peer that arrives twice with different branches', () => {
  it('an INFO digit counts once, and both copies get 200', () => {
    const { callee, send, sequence, attacker } = overheardCall('udp')
    expect(send('INFO', 'udp', sequence + 1, 'Signal=5\r\n')).toBe(200)
    expect(send('INFO', 'udp', sequence + 1, 'Signal=5\r\n')).toBe(200)
    expect(callee.types.filter(type => type === 'info')).toHaveLength(1)
    expect(new Set(attacker.responses.map(({ via }) => via[0]?.params.get('branch'))).size).toBe(2)
    expect(send('INFO', 'udp', sequence + 2, 'Signal=5\r\n')).toBe(200)
    expect(callee.types.filter(type => type === 'info')).toHaveLength(2)
  })

  it('a re-INVITE is offered to the application once, and both copies get its answer', () => {
    const { pair, callee, send, sequence, attacker } = overheardCall('udp')
    send('INVITE', 'udp')
    send('INVITE', 'udp')
    expect(callee.types.filter(type => type === 'offer')).toHaveLength(1)
    callee.session.acceptOffer(sdp('held'))
    pair.time.advance(100)
    const answers = attacker.responses.filter(({ status }) => status === 200)
    expect(answers.map(({ cseq }) => cseq)).toEqual([1, 2].map(() => ({ sequence: sequence + 1, method: 'INVITE' })))
    expect(new Set(answers.map(({ via }) => via[0]?.params.get('branch'))).size).toBe(2)
  })
})
