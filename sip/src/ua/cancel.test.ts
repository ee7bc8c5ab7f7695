import { describe, expect, it } from 'vitest'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'

describe('cancelling a ringing call', () => {
  it.each(['udp', 'tls'] as const)('hanging up over %s: CANCEL, 200, 487, ACK', transport => {
    const pair = new Pair({ transport })
    const caller = pair.call()
    pair.time.advance(100)
    const callee = pair.b.calls[0]!
    callee.session.progress(180)
    pair.time.advance(100)
    caller.session.hangUp({ reason: { protocol: 'SIP', cause: 200, text: 'Call completed elsewhere' } })
    pair.time.advance(100)
    expect(pair.trace.slice(2)).toEqual(['a> CANCEL', 'b> 200 CANCEL', 'b> 487 INVITE', 'a> ACK'])
    expect(caller.end).toMatchObject({ cause: 'cancelled', by: 'local', status: 487, confirmed: true })
    expect(callee.end).toMatchObject({ cause: 'cancelled', by: 'remote', status: 487 })
    expect(pair.network.passed.find(({ text }) => text.startsWith('CANCEL'))?.text).toContain(
      'Reason: SIP;cause=200;text="Call completed elsewhere"',
    )
  })

  it('the CANCEL is sent only after a provisional response', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(100)
    caller.session.hangUp()
    pair.time.advance(300)
    expect(peer.methods()).toEqual(['INVITE'])
    peer.reply(peer.last('INVITE'), 100)
    pair.time.advance(100)
    expect(peer.methods()).toEqual(['INVITE', 'CANCEL'])
    const [invite, cancel] = peer.requests
    expect(cancel?.via).toEqual(invite?.via)
    expect(cancel?.uri).toEqual(invite?.uri)
    expect(cancel?.cseq.sequence).toBe(invite?.cseq.sequence)
    peer.reply(peer.last('CANCEL'), 200)
    peer.reply(peer.last('INVITE'), 487)
    pair.time.advance(100)
    expect(caller.end).toMatchObject({ cause: 'cancelled', by: 'local', status: 487, confirmed: true })
  })

  it('a 200 that crossed the CANCEL is acknowledged and ended by BYE', () => {
    const pair = new Pair()
    const caller = pair.call()
    pair.time.advance(100)
    const callee = pair.b.calls[0]!
    callee.session.progress(180)
    pair.time.advance(100)
    callee.session.answer(sdp('answer'))
    caller.session.hangUp()
    pair.time.advance(200)
    expect(caller.types).not.toContain('answered')
    expect(caller.end).toMatchObject({ cause: 'cancelled', by: 'local', status: 200, confirmed: true })
    expect(callee.end).toMatchObject({ cause: 'bye', by: 'remote', confirmed: true })
    expect(pair.trace.slice(2)).toEqual([
      'b> 200 INVITE',
      'a> CANCEL',
      'b> 200 CANCEL',
      'a> ACK',
      'a> BYE',
      'b> 200 BYE',
    ])
  })

  it('the call ends 64*T1 after a CANCEL that is never answered', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(100)
    peer.reply(peer.last('INVITE'), 180)
    pair.time.advance(100)
    caller.session.hangUp()
    pair.time.advance(31_900)
    expect(caller.end).toBeUndefined()
    pair.time.advance(200)
    expect(caller.end).toMatchObject({ cause: 'cancelled', status: 408, confirmed: false })
    expect(pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 1, sends: 0 })
    pair.time.advance(32_000)
    expect(pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
  })

  it('a 200 that arrives even later is acknowledged and ended by BYE, for another 64*T1', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(100)
    peer.reply(peer.last('INVITE'), 180)
    pair.time.advance(100)
    caller.session.hangUp({ reason: { protocol: 'Q.850', cause: 16 } })
    pair.time.advance(63_000)
    expect(caller.end).toMatchObject({ status: 408, confirmed: false })
    peer.reply(peer.last('INVITE'), 200, { body: 'answer' })
    pair.time.advance(500)
    peer.reply(peer.last('INVITE'), 200, { body: 'answer' })
    pair.time.advance(100)
    expect(peer.methods().filter(method => method === 'ACK')).toHaveLength(2)
    expect(peer.last('BYE').request.headers.get('Reason')).toBe('Q.850;cause=16')
    peer.reply(peer.last('BYE'), 200)
    pair.time.advance(70_000)
    expect(caller.types.filter(type => type === 'ended')).toHaveLength(1)
    expect(pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
  })

  it('a call that is hung up before its address is resolved sends nothing', () => {
    const pair = new Pair()
    const caller = pair.call()
    caller.session.hangUp()
    pair.time.advance(1000)
    expect(pair.trace).toEqual([])
    expect(caller.end).toMatchObject({ cause: 'cancelled', by: 'local', status: 487, confirmed: true })
  })

  it('a call is cancelled after the ring timeout', () => {
    const pair = new Pair()
    const caller = pair.call({ ringTimeoutMs: 20_000 })
    pair.time.advance(100)
    pair.b.calls[0]!.session.progress(180)
    pair.time.advance(20_000)
    expect(caller.end).toMatchObject({ cause: 'timeout', by: 'local', status: 487, confirmed: true })
    expect(pair.b.calls[0]!.end).toMatchObject({ cause: 'cancelled', by: 'remote' })
  })

  it('a CANCEL after the answer gets 200 and does not end the call', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(50)
    const { request } = peer.last('INVITE')
    caller.session.hangUp()
    // The same INVITE and CANCEL, played at b by hand.
    peer.sendMessage({ ...request, uri: sipUri('bob', 'b.test', 'udp') }, { address: '10.0.0.2', transport: 'udp' })
    pair.time.advance(50)
    const callee = pair.b.calls[0]!
    callee.session.answer(sdp('answer'))
    pair.time.advance(50)
    const cancel = { ...request, method: 'CANCEL', cseq: { ...request.cseq, method: 'CANCEL' } }
    peer.sendMessage({ ...cancel, body: new Uint8Array(0) }, { address: '10.0.0.2', transport: 'udp' })
    pair.time.advance(50)
    expect(peer.responses.map(response => [response.status, response.cseq.method])).toContainEqual([200, 'CANCEL'])
    expect(callee.session.state).toBe('confirmed')
  })

  it('a CANCEL without an INVITE gets 481 if the guard accepts the sender, and no response otherwise', () => {
    for (const action of ['accept', 'drop'] as const) {
      const pair = new Pair({ guard: () => ({ action }) })
      const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
      const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
      pair.time.advance(50)
      const { request } = peer.last('INVITE')
      caller.session.hangUp()
      const cancel = { ...request, method: 'CANCEL', cseq: { ...request.cseq, method: 'CANCEL' } }
      peer.sendMessage({ ...cancel, body: new Uint8Array(0) }, { address: '10.0.0.2', transport: 'udp' })
      pair.time.advance(50)
      expect(peer.responses.map(response => response.status)).toEqual(action === 'accept' ? [481] : [])
    }
  })

  it('hanging up at the first target does not try the next one', () => {
    const pair = new Pair()
    const silent = new ScriptedPeer(pair.network, '10.0.0.21', 'silent.test')
    const next = new ScriptedPeer(pair.network, '10.0.0.22', 'next.test')
    pair.network.name('trunk.test', [
      { address: '10.0.0.21', port: 0 },
      { address: '10.0.0.22', port: 0 },
    ])
    const caller = pair.call({ uri: sipUri('x', 'trunk.test', 'udp') })
    pair.time.advance(1000)
    caller.session.hangUp()
    pair.time.advance(100_000)
    expect(silent.methods()).toContain('INVITE')
    expect(next.heard).toEqual([])
    expect(caller.end).toMatchObject({ cause: 'cancelled', by: 'local', status: 408, confirmed: false })
  })

  it('an INVITE whose Expires time has passed is answered 487', () => {
    const pair = new Pair()
    const caller = pair.call({ headers: [['Expires', '20']] })
    pair.time.advance(100)
    const callee = pair.b.calls[0]!
    callee.session.progress(180)
    pair.time.advance(20_000)
    expect(callee.end).toMatchObject({ cause: 'cancelled', by: 'remote', status: 487 })
    expect(caller.end).toMatchObject({ cause: 'rejected', by: 'remote', status: 487 })
  })
})
