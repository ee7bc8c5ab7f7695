import { describe, expect, it } from 'vitest'
import { Pair, sdp } from './testing/pair.ts'
import { ScriptedCallee } from './testing/scripted-callee.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

const standing = () => new ScriptedCallee(new Pair()).answer()
const offer = { headers: ['Content-Type: application/sdp'], body: 'offer of the callee' }

describe('UPDATE in an established call (RFC 3311 section 5.2)', () => {
  it('an UPDATE without SDP gets 200 at once and refreshes the target', () => {
    const callee = standing()
    const elsewhere = new ScriptedPeer(callee.pair.network, '10.0.0.19', 'elsewhere.test')
    expect(callee.send('UPDATE', { headers: [] })).toBe(200)
    expect(callee.lastResponse?.contact).toHaveLength(1)
    callee.contactHost = 'elsewhere.test'
    expect(callee.send('UPDATE')).toBe(200)
    callee.caller.session.hangUp()
    callee.pair.time.advance(100)
    expect(elsewhere.methods()).toEqual(['BYE'])
  })

  it('an UPDATE with SDP is an offer whose 200 carries the answer, without an ACK', () => {
    const callee = standing()
    callee.send('UPDATE', offer)
    expect(callee.caller.body('offer')).toBe('offer of the callee')
    callee.caller.session.acceptOffer(sdp('answer of the caller'))
    callee.pair.time.advance(100)
    expect(callee.lastResponse?.status).toBe(200)
    expect(new TextDecoder().decode(callee.lastResponse?.body)).toBe('answer of the caller')
    callee.pair.time.advance(100_000)
    expect(callee.peer.responses.filter(({ cseq }) => cseq.method === 'UPDATE' && cseq.sequence === 100)).toHaveLength(
      1,
    )
    expect(callee.caller.session.state).toBe('confirmed')
    // The next offer of either side succeeds.
    callee.caller.session.reoffer(sdp('next offer'))
    callee.pair.time.advance(100)
    expect(callee.peer.methods().at(-1)).toBe('INVITE')
  })

  it('a refused offer does not change the session, and Warning carries the reason', () => {
    const callee = standing()
    callee.send('UPDATE', offer)
    callee.caller.session.rejectOffer(488, 'no common codec')
    callee.pair.time.advance(100)
    expect(callee.lastResponse?.status).toBe(488)
    expect(callee.lastResponse?.headers.get('Warning')).toContain('no common codec')
    expect(callee.caller.session.state).toBe('confirmed')
  })

  it("an UPDATE with an offer gets 491 while the caller's own offer is pending, and 500 with Retry-After while the callee's is", () => {
    const callee = standing()
    callee.caller.session.reoffer(sdp("the caller's"))
    callee.pair.time.advance(50)
    expect(callee.send('UPDATE', offer)).toBe(491)
    expect(callee.send('UPDATE')).toBe(200)
    callee.answer()
    callee.send('UPDATE', offer)
    expect(callee.send('UPDATE', offer)).toBe(500)
    expect(callee.lastResponse?.headers.get('Retry-After')).toMatch(/^(\d|10)$/)
    expect(callee.send('INVITE', offer)).toBe(491)
    expect(callee.events('offer')).toHaveLength(1)
    expect(() => callee.caller.session.reoffer(sdp('x'))).toThrow(expect.objectContaining({ code: 'wrong_state' }))
  })

  it('an offer that the application does not decide within 15 s gets 504', () => {
    const callee = standing()
    callee.send('UPDATE', offer)
    callee.pair.time.advance(15_000)
    expect(callee.lastResponse?.status).toBe(504)
    expect(callee.caller.types.at(-1)).toBe('offer-withdrawn')
  })

  it('hanging up answers a pending offer with 487', () => {
    const callee = standing()
    callee.send('UPDATE', offer)
    callee.caller.session.hangUp()
    callee.pair.time.advance(100)
    expect(callee.lastResponse?.status).toBe(487)
  })

  it('an UPDATE outside any dialog gets 481', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', '10.0.0.9')
    peer.sendText(requestText({ method: 'UPDATE' }), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(100)
    expect(peer.responses.at(-1)?.status).toBe(481)
  })
})

describe('UPDATE before the answer', () => {
  it("the callee's UPDATE gets 200 without SDP, 491 with an offer while the caller's is unanswered, and 481 in an unknown dialog", () => {
    const callee = new ScriptedCallee(new Pair())
    callee.reply(180)
    expect(callee.send('UPDATE')).toBe(200)
    expect(callee.send('UPDATE', offer)).toBe(491)
    expect(callee.send('UPDATE', { toTag: 'another' })).toBe(481)
    callee.answer()
    expect(callee.caller.session.state).toBe('confirmed')
  })

  it("the callee's BYE before its answer gets 481, and its answer still makes the call", () => {
    const callee = new ScriptedCallee(new Pair())
    callee.reply(180)
    expect(callee.send('BYE')).toBe(481)
    callee.answer()
    expect(callee.caller.session.state).toBe('confirmed')
  })

  it("the caller's UPDATE gets 200 without SDP, and its offer must wait until the first one is answered", () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', '10.0.0.9')
    const toA = { address: '10.0.0.1', transport: 'udp' } as const
    peer.sendText(requestText({ method: 'INVITE', body: 'offer', headers: ['Content-Type: application/sdp'] }), toA)
    pair.time.advance(50)
    pair.a.calls[0]!.session.progress(180)
    pair.time.advance(50)
    const toTag = peer.responses.at(-1)!.to.params.get('tag')!
    peer.sendText(requestText({ method: 'UPDATE', toTag, cseq: 2, branch: 'z9hG4bKu1' }), toA)
    pair.time.advance(50)
    expect(peer.responses.at(-1)?.status).toBe(200)
    peer.sendText(requestText({ method: 'UPDATE', toTag, cseq: 3, branch: 'z9hG4bKu2', ...offer }), toA)
    pair.time.advance(50)
    expect(peer.responses.at(-1)?.status).toBe(500)
    expect(peer.responses.at(-1)?.headers.has('Retry-After')).toBe(true)
    expect(pair.a.calls[0]!.types).not.toContain('offer')
  })
})
