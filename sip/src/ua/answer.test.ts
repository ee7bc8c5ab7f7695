import { describe, expect, it } from 'vitest'
import type { InviteSession } from './session.ts'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }

describe('the 2xx to an INVITE and its ACK', () => {
  it('delayed offer: the 200 offers, the ACK answers', () => {
    const pair = new Pair()
    const delayed = pair.a.ua.invite({
      uri: sipUri('bob', 'b.test', 'udp'),
      from: { displayName: undefined, uri: sipUri('alice', 'a.test', 'udp'), params: new Map() },
    })
    const events: string[] = []
    delayed.onEvent(event => {
      events.push(event.type)
      if (event.type === 'answered')
        delayed.acknowledge(sdp(`answer to ${new TextDecoder().decode(event.body?.bytes)}`))
    })
    pair.time.advance(100)
    const callee = pair.b.calls[0]!
    callee.session.answer(sdp('late offer'))
    pair.time.advance(100)
    expect(events).toEqual(['answered'])
    expect(callee.body('acknowledged')).toBe('answer to late offer')
  })

  it('the 200 with a delayed offer is acknowledged before the BYE, even if the application never answers the offer', () => {
    const pair = new Pair()
    const session = pair.a.ua.invite({
      uri: sipUri('bob', 'b.test', 'udp'),
      from: { displayName: undefined, uri: sipUri('alice', 'a.test', 'udp'), params: new Map() },
    })
    pair.time.advance(100)
    pair.b.calls[0]!.session.answer(sdp('late offer'))
    pair.time.advance(100)
    session.hangUp()
    pair.time.advance(100)
    expect(pair.trace.slice(-3)).toEqual(['a> ACK', 'a> BYE', 'b> 200 BYE'])
    expect(pair.b.calls[0]!.end).toMatchObject({ cause: 'bye', by: 'remote' })
  })

  it.each(['udp', 'tls'] as const)(
    'the 200 is retransmitted over %s until the ACK arrives, and each 200 gets an ACK',
    transport => {
      const pair = new Pair({ transport })
      const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
      const caller = pair.call({ uri: sipUri('x', 'peer.test', transport) })
      pair.time.advance(100)
      const invite = peer.last('INVITE')
      peer.reply(invite, 200, { body: 'answer' })
      pair.time.advance(500)
      peer.reply(invite, 200, { body: 'answer' })
      pair.time.advance(500)
      expect(peer.methods()).toEqual(['INVITE', 'ACK', 'ACK'])
      const acks = peer.requests.filter(({ method }) => method === 'ACK')
      expect(acks[0]?.cseq.sequence).toBe(invite.request.cseq.sequence)
      expect(acks[0]?.via[0]?.params.get('branch')).not.toBe(invite.request.via[0]?.params.get('branch'))
      expect(caller.types.filter(type => type === 'answered')).toHaveLength(1)
    },
  )

  it('a callee without an ACK retransmits the 200 at 0, .5, 1.5, 3.5, 7.5, … 31.5 s and then sends BYE', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    peer.onMessage = (message, flow) => {
      if (message.kind === 'request' && message.method === 'BYE') peer.reply({ request: message, flow }, 200)
    }
    peer.sendText(requestText({ method: 'INVITE' }), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(10)
    const start = pair.time.now()
    const callee = pair.a.calls[0]!
    callee.session.answer(sdp('answer'))
    pair.time.advance(33_000)
    const sent = pair.network.passed.filter(({ text }) => text.startsWith('SIP/2.0 200'))
    expect(sent.slice(0, 11).map(({ at }) => at - start)).toEqual([
      0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
    ])
    expect(peer.methods()).toEqual(['BYE'])
    expect(callee.end).toMatchObject({ cause: 'timeout', status: 200, confirmed: true })
  })

  it('a callee sends no BYE before the ACK', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    peer.sendText(requestText({ method: 'INVITE' }), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(50)
    const callee = pair.a.calls[0]!
    callee.session.answer(sdp('answer'))
    callee.session.hangUp()
    pair.time.advance(2000)
    expect(peer.methods()).toEqual([])
    const toTag = peer.responses.at(-1)!.to.params.get('tag')!
    const ack = requestText({ method: 'ACK', toTag, branch: 'z9hG4bKack' })
    peer.sendText(ack, { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(50)
    expect(peer.methods()).toEqual(['BYE'])
    peer.reply(peer.last('BYE'), 200)
    pair.time.advance(50)
    expect(callee.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true })
  })

  it('a 200 of a second fork is acknowledged and ended by BYE, and the first call continues', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(50)
    const invite = peer.last('INVITE')
    peer.reply(invite, 180, { toTag: 'fork-1' })
    peer.reply(invite, 183, { toTag: 'fork-2', body: 'early' })
    pair.time.advance(50)
    peer.reply(invite, 200, { toTag: 'fork-2', body: 'second' })
    pair.time.advance(50)
    peer.reply(invite, 200, { toTag: 'fork-1', body: 'first' })
    pair.time.advance(50)
    expect(caller.events.filter(event => event.type === 'progress').map(event => event.toTag)).toEqual([
      'fork-1',
      'fork-2',
    ])
    expect(caller.body('answered')).toBe('second')
    const to = peer.requests.slice(1).map(({ method, to }) => `${method} ${to.params.get('tag')}`)
    expect(to).toEqual(['ACK fork-2', 'ACK fork-1', 'BYE fork-1'])
    expect(caller.session.state).toBe('confirmed')
    expect(caller.session.dialog?.remoteTag).toBe('fork-2')
  })

  it('the route set is the reversed Record-Route of the 200 and never changes', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const proxy = new ScriptedPeer(pair.network, '10.0.0.8', 'proxy.test')
    const route = (host: string) => ({
      displayName: undefined,
      uri: { ...sipUri('', host, 'udp'), user: undefined, params: new Map([['lr', null]]) },
      params: new Map(),
    })
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(50)
    const recordRoute = [route('far.test'), route('proxy.test')]
    peer.reply(peer.last('INVITE'), 200, { body: 'answer', recordRoute, contactHost: '10.9.9.9' })
    pair.time.advance(50)
    caller.session.hangUp()
    pair.time.advance(50)
    expect(proxy.methods()).toEqual(['ACK', 'BYE'])
    const bye = proxy.last('BYE').request
    expect(bye.route.map(({ uri }) => ('host' in uri ? uri.host : ''))).toEqual(['proxy.test', 'far.test'])
    expect('host' in bye.uri && bye.uri.host).toBe('10.9.9.9')
  })

  it('BYEs that cross end the call once on each side', () => {
    const pair = new Pair()
    const { caller, callee } = pair.established()
    caller.session.hangUp()
    callee.session.hangUp()
    pair.time.advance(70_000)
    for (const side of [caller, callee]) {
      expect(side.types.filter(type => type === 'ended')).toHaveLength(1)
      expect(side.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true })
    }
    expect([pair.a.ua.footprint, pair.b.ua.footprint]).toEqual([clean, clean])
  })

  it('a BYE with an unknown tag gets 481 and does not end the call', () => {
    const pair = new Pair()
    const { callee } = pair.established()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const { callId, dialog } = callee.session
    const bye = requestText({
      method: 'BYE',
      uri: 'sip:bob@b.test',
      callId,
      toTag: 'guess',
      fromTag: dialog!.remoteTag,
    })
    peer.sendText(bye, { address: '10.0.0.2', transport: 'udp' })
    pair.time.advance(50)
    expect(peer.responses.map(({ status }) => status)).toEqual([481])
    expect(callee.session.state).toBe('confirmed')
  })

  it('a request in the dialog with a lower CSeq than the last gets 500', () => {
    const pair = new Pair()
    const { callee } = pair.established()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const { callId, dialog } = callee.session
    const tags = { callId, toTag: dialog!.localTag, fromTag: dialog!.remoteTag, uri: 'sip:bob@b.test' }
    const below = dialog!.remoteSequence! - 1
    peer.sendText(requestText({ method: 'INFO', cseq: below, ...tags }), { address: '10.0.0.2', transport: 'udp' })
    pair.time.advance(50)
    expect(peer.responses.map(({ status }) => status)).toEqual([500])
  })

  it('a 3xx ends the call, and its targets are reported and not called', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const premium = new ScriptedPeer(pair.network, '10.0.0.66', 'premium.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), 302, { contactHost: 'premium.test' })
    pair.time.advance(60_000)
    expect(caller.end).toMatchObject({ cause: 'rejected', by: 'remote', status: 302 })
    const targets = ['sip:peer@premium.test;transport=udp']
    expect(caller.events.slice(0, -1)).toEqual([{ type: 'redirected', status: 302, targets }])
    expect(premium.heard).toEqual([])
  })

  it('reason phrase, Retry-After and headers of a refusal reach the caller', () => {
    const pair = new Pair()
    pair.b.onCall = session => {
      session.reject(486, { reason: 'On The Phone', retryAfterS: 30, headers: [['X-Why', 'talking']] })
      return undefined
    }
    const caller = pair.call()
    pair.time.advance(100)
    expect(caller.end).toMatchObject({
      cause: 'rejected',
      by: 'remote',
      status: 486,
      reason: 'On The Phone',
      retryAfterS: 30,
    })
    expect(pair.b.calls[0]!.end).toMatchObject({ cause: 'rejected', by: 'local', status: 486 })
  })

  it('another process hangs up a call using its dialog snapshot', async () => {
    const pair = new Pair({ transport: 'tls' })
    const { caller, callee } = pair.established()
    const snapshot = JSON.parse(JSON.stringify(caller.session.dialog))
    pair.a.transport.silence()
    const rescuer = pair.network.element({ address: '10.0.0.3', host: 'c.test' })
    const { UserAgent } = await import('./user-agent.ts')
    const other = new UserAgent({
      time: pair.time,
      random: pair.network.random,
      transport: rescuer,
      guard: () => ({ action: 'drop' }),
      onInvite: () => {},
    })
    const outcome = other.bye(snapshot)
    pair.time.advance(1000)
    expect(await outcome).toMatchObject({ confirmed: true, status: 200 })
    expect(callee.end).toMatchObject({ cause: 'bye', by: 'remote' })
  })

  it('a fork that was not chosen cannot end the call', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(50)
    const invite = peer.last('INVITE')
    peer.reply(invite, 180, { toTag: 'fork-1' })
    pair.time.advance(50)
    const bye = (branch: string) =>
      requestText({
        method: 'BYE',
        branch,
        callId: caller.session.callId,
        fromTag: 'fork-1',
        toTag: invite.request.from.params.get('tag')!,
      })
    peer.sendText(bye('z9hG4bKearly'), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(50)
    expect(caller.session.state).toBe('early')
    peer.reply(invite, 200, { toTag: 'fork-2', body: 'answer' })
    pair.time.advance(50)
    peer.sendText(bye('z9hG4bKlate'), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(50)
    expect(peer.responses.map(({ status, cseq }) => `${status} ${cseq.method}`)).toEqual(['481 BYE', '481 BYE'])
    expect(caller.session.state).toBe('confirmed')
  })

  it('the 180 is repeated every minute, so that no proxy cancels the call', () => {
    const pair = new Pair({ transport: 'tls' })
    pair.call()
    pair.time.advance(100)
    pair.b.calls[0]!.session.progress(180)
    pair.time.advance(150_000)
    expect(pair.trace.filter(line => line === 'b> 180 INVITE')).toHaveLength(3)
  })

  it('events are delivered one at a time, never during a command or another event', () => {
    const pair = new Pair()
    let inside = 0
    let deepest = 0
    let eventCount = 0
    const react = (_event: unknown, session: InviteSession) => {
      deepest = Math.max(deepest, ++inside)
      eventCount++
      if (session.state === 'confirmed' && eventCount < 20) session.hangUp()
      inside--
    }
    const caller = pair.call({}, react)
    pair.time.advance(100)
    const before = eventCount
    caller.session.hangUp()
    expect(eventCount).toBe(before)
    pair.call({}, react)
    pair.time.advance(100)
    pair.b.calls[1]!.session.answer(sdp('answer'))
    pair.time.advance(100)
    const gone = pair.call({}, react)
    inside = 1
    gone.session.hangUp()
    inside = 0
    pair.time.advance(100)
    expect(gone.types).toEqual(['ended'])
    expect(deepest).toBe(1)
  })
})
