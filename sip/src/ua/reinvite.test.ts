import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { glareBackOff } from './reinvite.ts'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

describe('re-INVITE', () => {
  it('either side can hold and resume the call', () => {
    const pair = new Pair({ transport: 'tls' })
    const { caller, callee } = pair.established()
    for (const [from, to] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      for (const offer of ['hold', 'resume']) {
        from.session.reoffer(sdp(offer))
        pair.time.advance(50)
        expect(to.body('offer')).toBe(offer)
        to.session.acceptOffer(sdp(`${offer} answer`))
        pair.time.advance(50)
        expect(from.body('reoffer-answered')).toBe(`${offer} answer`)
      }
    }
    caller.session.hangUp()
    pair.time.advance(100)
    expect(callee.end).toMatchObject({ cause: 'bye' })
  })

  it('a refused offer does not change the session, and Warning carries the reason', () => {
    const pair = new Pair()
    const { caller, callee } = pair.established()
    caller.session.reoffer(sdp('video'))
    pair.time.advance(50)
    callee.session.rejectOffer(488, 'no "video" here')
    pair.time.advance(50)
    expect(caller.events.at(-1)).toEqual({ type: 'reoffer-rejected', status: 488 })
    expect([caller.session.state, callee.session.state]).toEqual(['confirmed', 'confirmed'])
    expect(pair.network.passed.some(({ text }) => text.includes('Warning: 399 parley "no \\"video\\" here"'))).toBe(
      true,
    )
  })

  it('a re-INVITE without an offer: the peer offers in its 200, and the ACK carries the answer', () => {
    const pair = new Pair()
    const { caller, callee } = pair.established()
    caller.session.reoffer(undefined)
    pair.time.advance(50)
    expect(callee.events.at(-1)).toEqual({ type: 'offer', body: undefined })
    callee.session.acceptOffer(sdp('their offer'))
    pair.time.advance(50)
    expect(caller.body('reoffer-answered')).toBe('their offer')
    caller.session.acknowledge(sdp('our answer'))
    pair.time.advance(50)
    expect(callee.body('offer-answered')).toBe('our answer')
  })

  it('glare: both sides get 491, wait in their back-off ranges, and both offers succeed', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const pair = new Pair({ seed })
      pair.b.onCall = () => (event, session) => {
        if (event.type === 'offer') session.acceptOffer(sdp('b agrees'))
      }
      const { caller, callee } = pair.established()
      caller.session.onEvent(event => {
        caller.events.push(event)
        if (event.type === 'offer') caller.session.acceptOffer(sdp('a agrees'))
      })
      caller.session.reoffer(sdp('from a'))
      callee.session.reoffer(sdp('from b'))
      pair.time.advance(100)
      expect(pair.trace.filter(line => line.includes('491')).sort()).toEqual(['a> 491 INVITE', 'b> 491 INVITE'])
      expect([...caller.types, ...callee.types]).not.toContain('reoffer-rejected')
      pair.time.advance(2100)
      expect(callee.body('reoffer-answered')).toBe('a agrees')
      pair.time.advance(4000)
      expect(caller.body('reoffer-answered')).toBe('b agrees')
    }
  })

  it('the back-off after glare is drawn from the ranges of section 14.1 in steps of 10 ms', () => {
    const random = new SeededRandom(7)
    const owner = Array.from({ length: 5000 }, () => glareBackOff(random, true))
    const other = Array.from({ length: 5000 }, () => glareBackOff(random, false))
    expect([Math.min(...owner), Math.max(...owner)]).toEqual([2100, 4000])
    expect([Math.min(...other), Math.max(...other)]).toEqual([0, 2000])
    expect([...owner, ...other].every(wait => wait % 10 === 0)).toBe(true)
  })

  it('a second offer while one is pending gets 500 with Retry-After, and the first continues', () => {
    const pair = new Pair()
    const { caller, callee } = pair.established()
    caller.session.reoffer(sdp('one'))
    pair.time.advance(50)
    // The re-INVITE that b received, as a new transaction with the next CSeq number.
    const first = pair.network.passed.findLast(({ text }) => text.startsWith('INVITE'))!
    const second = first.text
      .replace(/branch=z9hG4bK\w+/, 'branch=z9hG4bKsecond')
      .replace(/CSeq: (\d+) INVITE/, (_, n: string) => `CSeq: ${Number(n) + 1} INVITE`)
    const bytes = new TextEncoder().encode(second)
    const target = { address: '10.0.0.2', port: 5060, transport: 'udp', serverName: 'b.test' } as const
    pair.a.transport.submit({ type: 'send', sendId: 999, to: { target }, bytes })
    pair.time.advance(50)
    const refusal = pair.network.passed.findLast(({ text }) => text.startsWith('SIP/2.0 500'))
    expect(refusal?.text).toMatch(/Retry-After: \d+\r\n/)
    callee.session.acceptOffer(sdp('fine'))
    pair.time.advance(50)
    expect(caller.body('reoffer-answered')).toBe('fine')
  })

  it('an offer that the peer cancels causes an event', () => {
    const pair = new Pair()
    const { caller, callee } = pair.established()
    caller.session.reoffer(sdp('never answered'))
    pair.time.advance(32_500)
    expect(callee.types.slice(-2)).toEqual(['offer', 'offer-withdrawn'])
    expect(caller.events.at(-1)).toEqual({ type: 'reoffer-rejected', status: 487 })
    expect([caller.session.state, callee.session.state]).toEqual(['confirmed', 'confirmed'])
    callee.session.reoffer(sdp('and now ours'))
    pair.time.advance(50)
    expect(caller.body('offer')).toBe('and now ours')
  })

  it('an unanswered re-INVITE ends the session', () => {
    const pair = new Pair()
    const { caller } = pair.established()
    pair.b.transport.silence()
    caller.session.reoffer(sdp('hello?'))
    pair.time.advance(70_000)
    expect(caller.events.some(event => event.type === 'reoffer-rejected' && event.status === 408)).toBe(true)
    expect(caller.end).toMatchObject({ cause: 'timeout', status: 200, confirmed: false })
  })

  it('hanging up during an offer answers pending requests and leaves no state', () => {
    const pair = new Pair()
    const { caller, callee } = pair.established()
    caller.session.reoffer(sdp('pending'))
    pair.time.advance(50)
    callee.session.hangUp()
    pair.time.advance(100)
    expect(caller.end).toMatchObject({ cause: 'bye', by: 'remote' })
    expect(callee.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true })
    pair.time.advance(70_000)
    for (const side of [pair.a, pair.b]) {
      expect(side.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
    }
  })

  it.each(['progress', 'answer', 'reject', 'acknowledge', 'acceptOffer', 'rejectOffer'] as const)(
    '%s in an established call without anything to %s throws wrong_state',
    command => {
      const pair = new Pair()
      const { caller } = pair.established()
      const before = pair.trace.length
      const run = {
        progress: () => caller.session.progress(180),
        answer: () => caller.session.answer(sdp('x')),
        reject: () => caller.session.reject(486),
        acknowledge: () => caller.session.acknowledge(sdp('x')),
        acceptOffer: () => caller.session.acceptOffer(sdp('x')),
        rejectOffer: () => caller.session.rejectOffer(488),
      }[command]
      expect(run).toThrow(expect.objectContaining({ code: 'wrong_state' }))
      pair.time.advance(100)
      expect(pair.trace).toHaveLength(before)
    },
  )

  it.each(['ours', 'theirs'])('a re-INVITE of %s refreshes the remote target', whose => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const moved = new ScriptedPeer(pair.network, '10.0.0.10', 'moved.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), 200, { body: 'answer' })
    pair.time.advance(50)
    if (whose === 'ours') {
      caller.session.reoffer(sdp('hold'))
      pair.time.advance(50)
      peer.reply(peer.last('INVITE'), 200, { body: 'held', contactHost: '10.0.0.10' })
    } else {
      const { callId, dialog } = caller.session
      const tags = { callId, toTag: dialog!.localTag, fromTag: dialog!.remoteTag }
      const offer = requestText({
        method: 'INVITE',
        host: '10.0.0.10',
        body: 'v=0',
        headers: ['Content-Type: application/sdp'],
        ...tags,
      })
      moved.sendText(offer, { address: '10.0.0.1', transport: 'udp' })
      pair.time.advance(50)
      caller.session.acceptOffer(sdp('fine'))
      const ack = requestText({ method: 'ACK', host: '10.0.0.10', branch: 'z9hG4bKack', ...tags })
      moved.sendText(ack, { address: '10.0.0.1', transport: 'udp' })
    }
    pair.time.advance(50)
    caller.session.hangUp()
    pair.time.advance(50)
    expect(moved.methods().at(-1)).toBe('BYE')
    expect(peer.methods()).not.toContain('BYE')
  })

  it('while our 200 has no ACK, our offer waits and another offer of the peer is refused', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', '10.0.0.9')
    const to = { address: '10.0.0.1', transport: 'udp' } as const
    peer.sendText(requestText({ method: 'INVITE' }), to)
    pair.time.advance(50)
    const callee = pair.a.calls[0]!
    callee.session.answer(sdp('answer'))
    callee.session.reoffer(sdp('hold'))
    pair.time.advance(50)
    expect(peer.methods()).toEqual([])
    const toTag = peer.responses.at(-1)!.to.params.get('tag')!
    peer.sendText(requestText({ method: 'ACK', branch: 'z9hG4bKa1', toTag }), to)
    pair.time.advance(50)
    expect(peer.methods()).toEqual(['INVITE'])
    peer.reply(peer.last('INVITE'), 200, { body: 'held' })
    const offer = (cseq: number) => requestText({ method: 'INVITE', branch: `z9hG4bKi${cseq}`, cseq, toTag })
    pair.time.advance(50)
    peer.sendText(offer(2), to)
    pair.time.advance(50)
    callee.session.acceptOffer(sdp('our offer'))
    pair.time.advance(50)
    peer.sendText(offer(3), to)
    pair.time.advance(50)
    expect(peer.responses.at(-1)).toMatchObject({ status: 491, cseq: { sequence: 3 } })
  })

  it('an unanswered offer in a 200 is acknowledged before the BYE', () => {
    const pair = new Pair()
    const { caller, callee } = pair.established()
    caller.session.reoffer(undefined)
    pair.time.advance(50)
    callee.session.acceptOffer(sdp('their offer'))
    pair.time.advance(50)
    caller.session.hangUp()
    pair.time.advance(50)
    expect(pair.trace.slice(-3)).toEqual(['a> ACK', 'a> BYE', 'b> 200 BYE'])
  })
})
