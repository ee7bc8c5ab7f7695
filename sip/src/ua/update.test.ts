import { describe, expect, it } from 'vitest'
import { Pair, sdp } from './testing/pair.ts'
import { ScriptedCallee } from './testing/scripted-callee.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

const standing = () => new ScriptedCallee(new Pair()).answer()
const offer = { headers: ['Content-Type: application/sdp'], body: 'their offer' }

describe('UPDATE in a call that stands (RFC 3311 section 5.2)', () => {
  it('without SDP: 200 at once, and the target moves', () => {
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

  it('with SDP: an offer like any other, the answer is in the 200, and no ACK is waited for', () => {
    const callee = standing()
    callee.send('UPDATE', offer)
    expect(callee.caller.body('offer')).toBe('their offer')
    callee.caller.session.acceptOffer(sdp('our answer'))
    callee.pair.time.advance(100)
    expect(callee.lastResponse?.status).toBe(200)
    expect(new TextDecoder().decode(callee.lastResponse?.body)).toBe('our answer')
    callee.pair.time.advance(100_000)
    expect(callee.peer.responses.filter(({ cseq }) => cseq.method === 'UPDATE' && cseq.sequence === 100)).toHaveLength(
      1,
    )
    expect(callee.caller.session.state).toBe('confirmed')
    // The next offer of either side finds nothing in its way.
    callee.caller.session.reoffer(sdp('ours'))
    callee.pair.time.advance(100)
    expect(callee.peer.methods().at(-1)).toBe('INVITE')
  })

  it('a refused offer leaves the session as it was, with the reason in Warning', () => {
    const callee = standing()
    callee.send('UPDATE', offer)
    callee.caller.session.rejectOffer(488, 'no common codec')
    callee.pair.time.advance(100)
    expect(callee.lastResponse?.status).toBe(488)
    expect(callee.lastResponse?.headers.get('Warning')).toContain('no common codec')
    expect(callee.caller.session.state).toBe('confirmed')
  })

  it('491 while an offer of ours waits; 500 with Retry-After while one of theirs does', () => {
    const callee = standing()
    callee.caller.session.reoffer(sdp('ours'))
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

  it('an owner that decides nothing loses its turn after 15 s: 504', () => {
    const callee = standing()
    callee.send('UPDATE', offer)
    callee.pair.time.advance(15_000)
    expect(callee.lastResponse?.status).toBe(504)
    expect(callee.caller.types.at(-1)).toBe('offer-withdrawn')
  })

  it('hanging up answers an offer that waits 487', () => {
    const callee = standing()
    callee.send('UPDATE', offer)
    callee.caller.session.hangUp()
    callee.pair.time.advance(100)
    expect(callee.lastResponse?.status).toBe(487)
  })

  it('outside any dialog: 481', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', '10.0.0.9')
    peer.sendText(requestText({ method: 'UPDATE' }), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(100)
    expect(peer.responses.at(-1)?.status).toBe(481)
  })
})

describe('UPDATE before the answer', () => {
  it('of the callee: 200 without SDP, 491 with an offer, for ours has no answer yet; 481 in a dialog that is none', () => {
    const callee = new ScriptedCallee(new Pair())
    callee.reply(180)
    expect(callee.send('UPDATE')).toBe(200)
    expect(callee.send('UPDATE', offer)).toBe(491)
    expect(callee.send('UPDATE', { toTag: 'another' })).toBe(481)
    expect(callee.send('BYE')).toBe(481)
    callee.answer()
    expect(callee.caller.session.state).toBe('confirmed')
  })

  it('of the caller: 200 without SDP; an offer has to wait until the first one is answered', () => {
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
