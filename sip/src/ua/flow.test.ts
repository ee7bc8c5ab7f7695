import { describe, expect, it } from 'vitest'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'

describe('connections of a dialog', () => {
  it('all requests of one call use one connection', () => {
    const pair = new Pair({ transport: 'tls' })
    const { caller, callee } = pair.established()
    callee.session.reoffer(sdp('hold'))
    pair.time.advance(100)
    caller.session.acceptOffer(sdp('held'))
    pair.time.advance(100)
    callee.session.hangUp()
    pair.time.advance(100)
    expect(new Set(pair.network.passed.map(({ from, to }) => [from.port, to.port].sort().join())).size).toBe(1)
  })

  it.each([
    ['reported', false],
    ['not noticed before the write', true],
  ])("a connection that died, %s, is dialled again at once and proves the trunk's name", (_how, unnoticed) => {
    const pair = new Pair({ transport: 'tls' })
    pair.network.name('trunk.test', [{ address: '10.0.0.2', port: 0 }])
    pair.b.transport.names.push('trunk.test')
    pair.b.transport.names.splice(0, 1)
    const nextHop = { host: 'trunk.test', port: undefined, transport: 'tls', serverName: undefined } as const
    const caller = pair.call({ nextHop })
    pair.time.advance(100)
    pair.b.calls[0]!.session.answer(sdp('answer'))
    pair.time.advance(100)
    expect(caller.session.dialog?.serverName).toBe('trunk.test')
    // As behind most trunks only "a" can dial.
    pair.network.refuse('10.0.0.1')
    const dead = caller.session.flow?.id
    pair.a.transport.cutAll()
    if (!unnoticed) pair.time.advance(1000)
    caller.session.reoffer(sdp('anybody there?'))
    pair.time.advance(100)
    pair.b.calls[0]!.session.acceptOffer(sdp('yes'))
    pair.time.advance(100)
    expect(caller.body('reoffer-answered')).toBe('yes')
    expect(caller.session.flow?.id).not.toBe(dead)
    expect(caller.session.flow?.serverName).toBe('trunk.test')
    caller.session.hangUp()
    pair.time.advance(100)
    expect(caller.end).toMatchObject({ cause: 'bye', confirmed: true })
    expect(pair.a.transport.openConnections).toBe(1)
  })

  it.each(['tls', 'udp'] as const)(
    'an answered call over %s has keep-alives as often as its trunk asks, on a connection',
    transport => {
      const pair = new Pair({ transport })
      const asked: unknown[] = []
      const { submit } = pair.a.transport
      pair.a.transport.submit = output => {
        if (output.type === 'keep-within') asked.push(output.withinMs)
        submit.call(pair.a.transport, output)
      }
      const { caller } = pair.established('a', { keepAliveMs: 10_000 })
      expect(asked).toEqual(transport === 'tls' ? [10_000] : [])
      // A connection that replaces it is kept alive as well.
      pair.a.transport.cutAll()
      pair.time.advance(1000)
      expect(caller.session.state).toBe('confirmed')
      expect(asked).toEqual(transport === 'tls' ? [10_000, 10_000] : [])
    },
  )

  it('a session outlives its connection, and the peer continues on a new one', () => {
    const pair = new Pair({ transport: 'tcp' })
    const { caller, callee } = pair.established()
    pair.a.transport.cutAll()
    pair.time.advance(10_000)
    expect([caller.session.state, callee.session.state]).toEqual(['confirmed', 'confirmed'])
    callee.session.reoffer(sdp('still there?'))
    pair.time.advance(100)
    expect(caller.body('offer')).toBe('still there?')
    caller.session.acceptOffer(sdp('yes'))
    pair.time.advance(100)
    expect(callee.body('reoffer-answered')).toBe('yes')
  })

  it('a response whose connection died goes to the source at the sent-by port', () => {
    const pair = new Pair({ transport: 'tls' })
    const caller = pair.call()
    pair.time.advance(100)
    pair.b.calls[0]!.session.progress(180)
    pair.time.advance(100)
    pair.b.transport.cutAll()
    pair.time.advance(100)
    pair.b.calls[0]!.session.answer(sdp('answer'))
    pair.time.advance(200)
    expect(caller.session.state).toBe('confirmed')
    expect(pair.b.calls[0]!.types).toEqual(['acknowledged'])
  })

  it('an INVITE on a connection that closes before any response is sent again at once, once', () => {
    const pair = new Pair({ transport: 'tls' })
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    let closes = 0
    peer.onMessage = (_message, flow) => {
      if (closes++ < 1) peer.transport.cut(flow)
    }
    pair.call({ uri: sipUri('x', 'peer.test', 'tls') })
    pair.time.advance(500)
    expect(peer.methods()).toEqual(['INVITE', 'INVITE'])
    const [first, second] = peer.requests
    expect(second?.via).toEqual(first?.via)
  })

  it('the next target is tried when one refuses, fails TLS verification, is silent or answers 503', () => {
    const pair = new Pair({ transport: 'tls' })
    const busy = new ScriptedPeer(pair.network, '10.0.0.21', 'trunk.test')
    busy.onMessage = (message, flow) => {
      if (message.kind === 'request' && message.method === 'INVITE') busy.reply({ request: message, flow }, 503)
    }
    const silent = new ScriptedPeer(pair.network, '10.0.0.22', 'trunk.test')
    new ScriptedPeer(pair.network, '10.0.0.23', 'somebody.else')
    pair.b.transport.names.push('trunk.test')
    pair.network.name(
      'trunk.test',
      ['10.0.0.20', '10.0.0.21', '10.0.0.22', '10.0.0.23', '10.0.0.2'].map(address => ({ address, port: 0 })),
    )
    const caller = pair.call({ uri: sipUri('bob', 'trunk.test', 'tls') })
    pair.time.advance(1000)
    expect(silent.methods()).toEqual(['INVITE'])
    pair.time.advance(4000)
    pair.b.calls[0]!.session.answer(sdp('answer'))
    pair.time.advance(100)
    expect(caller.session.state).toBe('confirmed')
    const invites = pair.network.passed.filter(({ text }) => text.startsWith('INVITE')).map(({ text }) => text)
    const unique = (pattern: RegExp) => new Set(invites.map(text => pattern.exec(text)?.[1])).size
    expect([invites.length, unique(/branch=(\w+)/), unique(/Call-ID: (\w+)/), unique(/CSeq: (\d+)/)]).toEqual([
      3, 3, 2, 1,
    ])
  })

  it('a call whose targets all fail ends with cause transport', () => {
    const pair = new Pair({ transport: 'tls' })
    pair.network.refuse('10.0.0.2')
    const caller = pair.call()
    pair.time.advance(1000)
    expect(caller.end).toMatchObject({ cause: 'transport', by: 'local', status: 503, confirmed: false })
    expect(caller.end?.detail).toContain('refused')
  })

  it('a call without a response ends after 64*T1; the INVITE is retransmitted over UDP only', () => {
    for (const [transport, times] of [
      ['udp', [0, 500, 1500, 3500, 7500, 15_500, 31_500]],
      ['tcp', [20]],
    ] as const) {
      const pair = new Pair({ transport })
      pair.b.transport.silence()
      const caller = pair.call()
      pair.time.advance(33_000)
      expect(caller.end).toMatchObject({ cause: 'timeout', status: 408, confirmed: false })
      expect(pair.network.passed.map(({ at }) => at)).toEqual(times)
    }
  })

  it('received and rport are filled in, and the response goes to the source of the request', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'behind.nat')
    pair.call({ uri: sipUri('x', 'behind.nat', 'udp') })
    pair.time.advance(50)
    expect(peer.last('INVITE').request.via[0]?.params.has('rport')).toBe(true)
    pair.b.ua.options({ uri: sipUri('alice', 'a.test', 'udp'), from: peer.last('INVITE').request.from }).catch(() => {})
    pair.time.advance(50)
    const answer = pair.network.passed.findLast(({ text }) => text.startsWith('SIP/2.0 200'))
    expect(answer?.text).toMatch(/Via: SIP\/2\.0\/UDP b\.test:5060;rport=5060;branch=\w+;received=10\.0\.0\.2/)
  })

  it('a request whose connection closed is sent again with the same branch, so that the peer recognises it', () => {
    const pair = new Pair({ transport: 'tls' })
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'tls') })
    pair.time.advance(100)
    peer.reply(peer.last('INVITE'), 200, { body: 'answer' })
    pair.time.advance(100)
    let cut = false
    peer.onMessage = (_message, flow) => {
      if (!cut) peer.transport.cut(flow)
      cut = true
    }
    caller.session.reoffer(sdp('hold'))
    pair.time.advance(200)
    const [, first, second] = peer.requests.filter(({ method }) => method === 'INVITE')
    expect(second?.cseq).toEqual(first?.cseq)
    expect(second?.via[0]?.params.get('branch')).toBe(first?.via[0]?.params.get('branch'))
    peer.reply(peer.last('INVITE'), 200, { body: 'held' })
    pair.time.advance(100)
    expect(caller.body('reoffer-answered')).toBe('held')
  })
})
