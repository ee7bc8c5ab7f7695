import { describe, expect, it } from 'vitest'
import type { SipUri } from '../message/message.ts'
import type { TransportName } from '../transport/transport.ts'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'

const large = sdp('x'.repeat(1100))
const open = (host: string): SipUri => ({ ...sipUri('x', host, 'udp'), params: new Map() })

/** Transport of everything that passed: "udp INVITE". */
function passed(pair: Pair): string[] {
  return pair.network.passed.map(({ transport }, i) => `${transport} ${pair.trace[i]}`)
}

function called(body = large, uri = open('peer.test'), listens?: readonly TransportName[]) {
  const pair = new Pair()
  const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test', listens)
  const caller = pair.call({ uri, body })
  pair.time.advance(100)
  return { pair, peer, caller }
}

describe('requests over 1300 bytes (RFC 3261 section 18.1.1)', () => {
  it('large requests use TCP if the URI names no transport, small ones UDP', () => {
    const { pair, peer } = called()
    const { request, flow } = peer.last('INVITE')
    expect(flow.transport).toBe('tcp')
    expect(request.via[0]?.transport).toBe('TCP')
    expect(request.contact).toMatchObject([{ uri: { params: new Map([['transport', 'tcp']]) } }])
    peer.reply(peer.last('INVITE'), 200, { body: 'answer' })
    pair.time.advance(100)
    expect(peer.last('ACK').flow.transport).toBe('tcp')
    expect(called(sdp('offer')).peer.last('INVITE').flow.transport).toBe('udp')
  })

  it('large requests stay on UDP if the URI says so', () => {
    const { pair } = called(large, sipUri('x', 'peer.test', 'udp'))
    expect(passed(pair)).toEqual(['udp a> INVITE'])
  })

  it('large requests use UDP to a target that refuses TCP, and TCP is not tried there for ten minutes', () => {
    const { pair, peer, caller } = called(large, open('peer.test'), ['udp'])
    expect(peer.last('INVITE').flow.transport).toBe('udp')
    peer.reply(peer.last('INVITE'), 486)
    pair.time.advance(100)
    expect(caller.end).toMatchObject({ status: 486 })
    const before = pair.time.now()
    pair.call({ uri: open('peer.test'), body: large })
    pair.time.advance(15)
    expect(pair.network.passed.at(-1)).toMatchObject({ transport: 'udp', at: before })
  })

  it('a challenge over TCP is answered like one over UDP, because it is the same next hop', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    pair.call({ uri: open('peer.test'), body: large, credentials: { username: 'u', password: 'p' } })
    pair.time.advance(100)
    peer.reply(peer.last('INVITE'), 407, { headers: [['Proxy-Authenticate', 'Digest realm="r", nonce="n"']] })
    pair.time.advance(100)
    const { request, flow } = peer.last('INVITE')
    expect(flow.transport).toBe('tcp')
    expect(request.headers.get('Proxy-Authorization')).toContain('username="u"')
  })

  it('a request that credentials make too large moves to TCP', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const body = sdp('x'.repeat(720))
    pair.call({ uri: open('peer.test'), body, credentials: { username: 'u', password: 'p' } })
    pair.time.advance(100)
    expect(peer.last('INVITE').flow.transport).toBe('udp')
    const nonce = 'n'.repeat(200)
    peer.reply(peer.last('INVITE'), 407, { headers: [['Proxy-Authenticate', `Digest realm="r", nonce="${nonce}"`]] })
    pair.time.advance(100)
    expect(peer.last('INVITE').flow.transport).toBe('tcp')
  })

  it('an ACK with a large answer uses TCP, or UDP if TCP is refused', () => {
    for (const [listens, expected] of [
      [['udp', 'tcp'], 'tcp'],
      [['udp'], 'udp'],
    ] as const) {
      const pair = new Pair()
      const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test', listens)
      const caller = pair.call({ uri: open('peer.test'), body: undefined as never })
      pair.time.advance(100)
      const { request, flow } = peer.last('INVITE')
      const contact = [{ displayName: undefined, uri: open('peer.test'), params: new Map() }]
      peer.reply({ request, flow }, 200, { body: 'offer', recordRoute: contact })
      pair.time.advance(100)
      caller.session.acknowledge(sdp('y'.repeat(1200)))
      pair.time.advance(100)
      expect(peer.last('ACK').flow.transport).toBe(expected)
      expect(peer.last('ACK').request.body).toHaveLength(1200)
    }
  })
})
