import { describe, expect, it } from 'vitest'
import type { TransportName } from '../transport/transport.ts'
import { Pair, sdp } from './testing/pair.ts'
import { ScriptedCallee } from './testing/scripted-callee.ts'

/** An established call over TLS whose connection closes. `status`: of the peer's answer to OPTIONS; undefined: none. */
function interrupted(status: number | undefined, transport: TransportName = 'tls') {
  const callee = new ScriptedCallee(new Pair({ transport })).answer()
  callee.peer.onMessage = (message, flow) => {
    if (message.kind === 'request' && message.method === 'OPTIONS' && status !== undefined)
      callee.peer.reply({ request: message, flow }, status)
    if (message.kind === 'request' && message.method === 'BYE') callee.peer.reply({ request: message, flow }, 200)
  }
  const { caller, pair } = callee
  const before = caller.session.flow!.id
  pair.a.transport.cutAll()
  pair.time.advance(200)
  return { callee, caller, pair, before, probes: () => callee.peer.methods().filter(method => method === 'OPTIONS') }
}

describe('a call whose TLS connection closes', () => {
  it.each([200, 405, 501, 603])('dials again at once by an OPTIONS in the dialog, and continues after a %i', status => {
    const { callee, caller, before, pair, probes } = interrupted(status)
    expect(probes()).toHaveLength(1)
    const { request } = callee.peer.last('OPTIONS')
    expect(request.to.params.get('tag')).toBe('peer-tag')
    expect(caller.session.flow?.id).not.toBe(before)
    pair.time.advance(120_000)
    expect([caller.session.state, probes().length]).toEqual(['confirmed', 1])
  })

  it.each([
    [481, 'protocol'],
    [408, 'timeout'],
  ])('a call whose TLS connection closes ends when the peer answers the OPTIONS with %i', (status, cause) => {
    const { caller } = interrupted(status)
    expect(caller.end).toMatchObject({ cause, by: 'remote' })
  })

  it('a call whose TLS connection closes ends after 64*T1 when nothing connects, also on hold', () => {
    const callee = new ScriptedCallee(new Pair({ transport: 'tls' })).answer()
    const { caller, pair } = callee
    caller.session.reoffer(sdp('hold'))
    pair.time.advance(100)
    callee.reply(200, { body: 'held' })
    pair.network.refuse('10.0.0.9')
    pair.a.transport.cutAll()
    pair.time.advance(31_500)
    expect(caller.session.state).toBe('confirmed')
    pair.time.advance(1000)
    expect(caller.end).toMatchObject({ cause: 'timeout', by: 'remote', confirmed: false })
    pair.time.advance(60_000)
    expect(pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
  })

  it('a call whose TLS connection closes continues when a later attempt connects', () => {
    const callee = new ScriptedCallee(new Pair({ transport: 'tls' })).answer()
    const { caller, pair, peer } = callee
    peer.onMessage = (message, flow) => {
      if (message.kind === 'request') peer.reply({ request: message, flow }, 200)
    }
    pair.network.refuse('10.0.0.9')
    pair.a.transport.cutAll()
    pair.time.advance(20_000)
    pair.network.allow('10.0.0.9')
    pair.time.advance(60_000)
    expect(caller.session.state).toBe('confirmed')
    expect(peer.methods().filter(method => method === 'OPTIONS')).toHaveLength(1)
  })

  it('a call whose TLS connection closes continues when the peer sends a request over a connection of its own meanwhile', () => {
    const pair = new Pair({ transport: 'tls' })
    const { caller, callee } = pair.established()
    pair.network.refuse('10.0.0.2')
    pair.a.transport.cutAll()
    pair.time.advance(5000)
    callee.session.reoffer(sdp('still there?'))
    pair.time.advance(200)
    caller.session.acceptOffer(sdp('yes'))
    pair.time.advance(60_000)
    expect(caller.session.state).toBe('confirmed')
  })

  it('probes a peer that closes every connection no more than every 4 s', () => {
    const callee = new ScriptedCallee(new Pair({ transport: 'tls' })).answer()
    const { pair, peer, caller } = callee
    peer.onMessage = (message, flow) => {
      if (message.kind !== 'request' || message.method !== 'OPTIONS') return
      peer.reply({ request: message, flow }, 200)
      pair.time.at(pair.time.now() + 50, () => peer.transport.cut(flow))
    }
    pair.a.transport.cutAll()
    pair.time.advance(40_000)
    expect(caller.session.state).toBe('confirmed')
    const probes = peer.methods().filter(method => method === 'OPTIONS').length
    expect(probes).toBeGreaterThan(5)
    expect(probes).toBeLessThanOrEqual(11)
  })

  it('a call over TCP sends nothing when its connection closes', () => {
    const { probes, pair, caller } = interrupted(200, 'tcp')
    pair.time.advance(60_000)
    expect([caller.session.state, probes().length]).toEqual(['confirmed', 0])
  })
})
