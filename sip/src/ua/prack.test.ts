import { describe, expect, it } from 'vitest'
import { Pair, sdp, textOf } from './testing/pair.ts'
import { ScriptedCallee } from './testing/scripted-callee.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }
const reliable = (rseq: number): { headers: [string, string][] } => ({
  headers: [
    ['Require', '100rel'],
    ['RSeq', String(rseq)],
  ],
})

/** RAck of the PRACKs that the peer received, without repetitions. */
function racks({ peer }: ScriptedCallee): string[] {
  return [
    ...new Set(
      peer.requests.filter(({ method }) => method === 'PRACK').map(({ headers }) => headers.get('RAck') ?? ''),
    ),
  ]
}

describe('100rel as the caller (RFC 3262 section 4)', () => {
  it('100rel is offered only in an INVITE with an offer, because otherwise the peer would have to offer in a 18x', () => {
    const supported = (callee: ScriptedCallee) => callee.invite.headers.get('Supported')
    expect(supported(new ScriptedCallee(new Pair()))).toBe('timer, 100rel')
    const delayed = new ScriptedCallee(new Pair(), { body: undefined as never })
    expect(supported(delayed)).toBe('timer')
  })

  it('a reliable 183 gets its PRACK in the early dialog, and its SDP is the answer, even if the 200 carries another one', () => {
    const callee = new ScriptedCallee(new Pair())
    const { sequence } = callee.invite.cseq
    callee.reply(183, { ...reliable(7), body: 'answer' })
    expect(racks(callee)).toEqual([`7 ${sequence} INVITE`])
    const { request } = callee.peer.last('PRACK')
    expect([request.cseq.sequence, request.to.params.get('tag')]).toEqual([sequence + 1, 'peer-tag'])
    expect(callee.events('progress')).toMatchObject([{ status: 183, reliable: true }])
    callee.peer.reply(callee.peer.last('PRACK'), 200)
    callee.answer({ body: 'another' })
    expect(textOf(callee.events('answered')[0]?.body)).toBe('answer')
    expect(callee.peer.last('ACK').request.cseq.sequence).toBe(sequence)
  })

  it('a 200 without SDP after a reliable 183: the answer is that of the 183', () => {
    const callee = new ScriptedCallee(new Pair())
    callee.reply(183, { ...reliable(1), body: 'answer' })
    callee.reply(200)
    expect(textOf(callee.events('answered')[0]?.body)).toBe('answer')
  })

  it('repeated and out-of-order reliable responses are dropped without an event', () => {
    const callee = new ScriptedCallee(new Pair())
    for (const rseq of [5, 5, 7, 6, 5, 7]) callee.reply(180, reliable(rseq))
    const { sequence } = callee.invite.cseq
    expect(racks(callee)).toEqual([5, 6, 7].map(rseq => `${rseq} ${sequence} INVITE`))
    expect(callee.events('progress')).toHaveLength(3)
  })

  it('each early dialog has its own RSeq order', () => {
    const callee = new ScriptedCallee(new Pair())
    callee.reply(180, { ...reliable(5), toTag: 'one' })
    callee.reply(180, { ...reliable(50), toTag: 'two' })
    callee.reply(183, { ...reliable(6), toTag: 'one', body: 'answer one' })
    callee.reply(183, { ...reliable(51), toTag: 'two', body: 'answer two' })
    expect(racks(callee).map(rack => rack.split(' ')[0])).toEqual(['5', '50', '6', '51'])
    callee.reply(200, { toTag: 'two' })
    expect(textOf(callee.events('answered')[0]?.body)).toBe('answer two')
  })

  it.each([[[]], [['RSeq', '5']], [['Require', '100rel']]])('a 180 with %j is not reliable', header => {
    const callee = new ScriptedCallee(new Pair())
    callee.reply(180, { headers: header.length === 0 ? [] : [[header[0]!, header[1]!]] })
    expect(racks(callee)).toEqual([])
    expect(callee.events('progress')).toHaveLength(1)
  })

  it('an unanswered PRACK is retransmitted by its transaction and does not end the call', () => {
    const callee = new ScriptedCallee(new Pair())
    callee.reply(180, reliable(5))
    callee.pair.time.advance(40_000)
    expect(callee.peer.methods().filter(method => method === 'PRACK').length).toBeGreaterThan(5)
    expect(callee.caller.session.state).toBe('early')
  })
})

/** A scripted caller that requires 100rel. */
class ScriptedCaller {
  readonly pair = new Pair()
  readonly peer = new ScriptedPeer(this.pair.network, '10.0.0.9', '10.0.0.9')
  #sequence = 2

  constructor(body = 'offer', require = '100rel') {
    const headers = [`Require: ${require}`, ...(body === '' ? [] : ['Content-Type: application/sdp'])]
    this.peer.sendText(requestText({ method: 'INVITE', body, headers }), { address: '10.0.0.1', transport: 'udp' })
    this.pair.time.advance(50)
  }

  get callee() {
    return this.pair.a.calls[0]!
  }

  /** Responses to the INVITE: status, and RSeq of the reliable ones. */
  get heard(): string[] {
    return this.peer.responses
      .filter(({ cseq, status }) => cseq.method === 'INVITE' && status > 100)
      .map(
        ({ status, headers }) =>
          `${status}${headers.has('RSeq') ? ` ${Number(headers.get('RSeq')) - this.first}` : ''}`,
      )
  }

  /** The first RSeq. */
  get first(): number {
    return Number(this.peer.responses.find(({ headers }) => headers.has('RSeq'))?.headers.get('RSeq'))
  }

  send(method: string, headers: string[] = [], body = ''): number {
    const toTag = this.peer.responses.at(-1)?.to.params.get('tag') ?? ''
    const cseq = method === 'ACK' ? 1 : this.#sequence++
    const branch = `z9hG4bKcaller${cseq}${method}`
    this.peer.sendText(requestText({ method, toTag, cseq, branch, headers, body }), {
      address: '10.0.0.1',
      transport: 'udp',
    })
    this.pair.time.advance(50)
    return this.peer.responses.findLast(response => response.cseq.sequence === cseq)?.status ?? 0
  }

  prack(rseq: number, cseq = '1 INVITE'): number {
    return this.send('PRACK', [`RAck: ${this.first + rseq} ${cseq}`])
  }
}

describe('100rel as the callee (RFC 3262 section 3)', () => {
  it('a reliable 180 is retransmitted after 0.5, 1.5, 3.5, 7.5, 15.5 s until its PRACK', () => {
    const caller = new ScriptedCaller()
    const start = caller.pair.time.now()
    caller.callee.session.progress(180)
    caller.pair.time.advance(20_000)
    const sent = caller.pair.network.passed.filter(({ text }) => text.startsWith('SIP/2.0 180'))
    expect(sent.map(({ at }) => (at - start) / 1000)).toEqual([0, 0.5, 1.5, 3.5, 7.5, 15.5])
    expect(caller.prack(0)).toBe(200)
    caller.pair.time.advance(25_000)
    expect(caller.heard).toHaveLength(6)
  })

  it('after 64*T1 without a PRACK the INVITE is answered 504', () => {
    const caller = new ScriptedCaller()
    caller.callee.session.progress(180)
    caller.pair.time.advance(32_100)
    expect(caller.heard.at(-1)).toBe('504')
    expect(caller.callee.end).toMatchObject({ cause: 'timeout', status: 504 })
    caller.send('ACK')
    caller.pair.time.advance(60_000)
    expect(caller.pair.a.ua.footprint).toEqual(clean)
  })

  it('the next 18x waits for the PRACK of the one before, and has the next RSeq', () => {
    const caller = new ScriptedCaller()
    caller.callee.session.progress(180)
    caller.callee.session.progress(183, sdp('early'))
    caller.pair.time.advance(50)
    expect(caller.heard).toEqual(['180 0'])
    caller.prack(0)
    expect(caller.heard).toEqual(['180 0', '183 1'])
    const { headers } = caller.peer.responses.findLast(({ status }) => status === 183)!
    expect(headers.get('Require')).toBe('100rel')
  })

  it('the 200 waits for the PRACK of a 183 with SDP, and does not repeat the answer', () => {
    const caller = new ScriptedCaller()
    caller.callee.session.progress(183, sdp('early answer'))
    caller.callee.session.answer(sdp('early answer'))
    caller.pair.time.advance(10_000)
    expect(new Set(caller.heard)).toEqual(new Set(['183 0']))
    expect(caller.callee.session.state).toBe('early')
    expect(() => caller.callee.session.answer(sdp('again'))).toThrow(expect.objectContaining({ code: 'wrong_state' }))
    expect(caller.prack(0)).toBe(200)
    const ok = caller.peer.responses.find(({ status, cseq }) => status === 200 && cseq.method === 'INVITE')
    expect(ok?.body).toHaveLength(0)
    caller.send('ACK')
    expect(caller.callee.session.state).toBe('confirmed')
    expect(caller.callee.types).toContain('acknowledged')
    caller.send('BYE')
    caller.pair.time.advance(60_000)
    expect(caller.pair.a.ua.footprint).toEqual(clean)
  })

  it('the 200 does not wait for the PRACK of a 180 without SDP, which may come late', () => {
    const caller = new ScriptedCaller()
    caller.callee.session.progress(180)
    caller.callee.session.answer(sdp('answer'))
    caller.pair.time.advance(50)
    expect(caller.heard).toEqual(['180 0', '200'])
    expect(caller.prack(0)).toBe(200)
    expect(caller.prack(0)).toBe(481)
  })

  it.each([
    ['an RSeq that was never sent', 3, '1 INVITE'],
    ['the CSeq of another request', 0, '9 INVITE'],
    ['the method of another request', 0, '1 OPTIONS'],
  ])('a PRACK with %s gets 481, and the 180 is still retransmitted', (_what, rseq, cseq) => {
    const caller = new ScriptedCaller()
    caller.callee.session.progress(180)
    caller.pair.time.advance(50)
    expect(caller.prack(rseq, cseq)).toBe(481)
    caller.pair.time.advance(600)
    expect(caller.heard.length).toBeGreaterThan(1)
  })

  it('a malformed PRACK, or one without a reliable response, gets 481', () => {
    const caller = new ScriptedCaller()
    caller.callee.session.progress(180)
    caller.pair.time.advance(50)
    for (const rack of ['RAck: x', 'RAck: 1', 'RAck: 99999999999999 1 INVITE', 'X: y']) {
      expect(caller.send('PRACK', [rack])).toBe(481)
    }
    const unreliable = new ScriptedCaller('offer', 'timer')
    unreliable.callee.session.progress(180)
    unreliable.pair.time.advance(50)
    expect(unreliable.heard).toEqual(['180'])
    expect(unreliable.send('PRACK', ['RAck: 1 1 INVITE'])).toBe(481)
  })

  /** A call whose 183 has answered the offer reliably, and whose PRACK carries another offer; returns the status of the PRACK. */
  function offerInPrack(caller: ScriptedCaller): number {
    caller.callee.session.progress(183, sdp('early'))
    caller.pair.time.advance(50)
    return caller.send('PRACK', [`RAck: ${caller.first} 1 INVITE`, 'Content-Type: application/sdp'], 'second offer')
  }
  const prackAnswer = ({ peer }: ScriptedCaller) => peer.responses.findLast(({ cseq }) => cseq.method === 'PRACK')

  it('an offer in a PRACK is answered in its 200, for which the 200 to the INVITE waits (section 5)', () => {
    const caller = new ScriptedCaller()
    expect(offerInPrack(caller)).toBe(0)
    expect(caller.callee.body('offer')).toBe('second offer')
    caller.callee.session.answer(sdp('ignored'))
    caller.pair.time.advance(1000)
    expect(caller.heard).toEqual(['183 0'])
    caller.callee.session.acceptOffer(sdp('second answer'))
    caller.pair.time.advance(50)
    expect(prackAnswer(caller)).toMatchObject({ status: 200, body: new TextEncoder().encode('second answer') })
    expect(caller.heard).toEqual(['183 0', '200'])
    caller.send('ACK')
    expect(caller.callee.session.state).toBe('confirmed')
  })

  it('an offer in a PRACK that the application refuses gets its status, and the PRACK counts', () => {
    const caller = new ScriptedCaller()
    offerInPrack(caller)
    caller.callee.session.rejectOffer(488, 'no video')
    caller.pair.time.advance(20_000)
    expect(prackAnswer(caller)?.status).toBe(488)
    expect(prackAnswer(caller)?.headers.get('Warning')).toBe('399 parley "no video"')
    expect(caller.heard).toEqual(['183 0'])
  })

  it('an offer in a PRACK that is not decided within 15 s, or before the INVITE ends, is refused', () => {
    const slow = new ScriptedCaller()
    offerInPrack(slow)
    slow.pair.time.advance(15_000)
    expect(prackAnswer(slow)?.status).toBe(504)
    expect(slow.callee.types).toContain('offer-withdrawn')
    const ended = new ScriptedCaller()
    offerInPrack(ended)
    ended.callee.session.hangUp()
    ended.pair.time.advance(50)
    expect([prackAnswer(ended)?.status, ended.heard.at(-1)]).toEqual([487, '480'])
  })

  it('an offer in the PRACK of a 180 is refused while the offer of the INVITE has no answer', () => {
    const caller = new ScriptedCaller()
    caller.callee.session.progress(180)
    caller.pair.time.advance(50)
    const headers = [`RAck: ${caller.first} 1 INVITE`, 'Content-Type: application/sdp']
    expect(caller.send('PRACK', headers, 'second offer')).toBe(488)
    expect(caller.callee.types).not.toContain('offer')
  })

  it('an INVITE without an offer gets no reliable 18x, and the 200 carries the offer', () => {
    const caller = new ScriptedCaller('')
    caller.callee.session.progress(183, sdp('early'))
    caller.callee.session.answer(sdp('our offer'))
    caller.pair.time.advance(50)
    expect(caller.heard).toEqual(['200'])
    expect(new TextDecoder().decode(caller.peer.responses.at(-1)?.body)).toBe('our offer')
  })

  it('a CANCEL or our refusal ends the INVITE at once while a PRACK is pending', () => {
    const refused = new ScriptedCaller()
    refused.callee.session.progress(183, sdp('early'))
    refused.callee.session.answer(sdp('early'))
    refused.callee.session.hangUp()
    refused.pair.time.advance(50)
    expect(refused.heard).toEqual(['183 0', '480'])
    refused.send('ACK')
    refused.pair.time.advance(60_000)
    expect(refused.pair.a.ua.footprint).toEqual(clean)
  })

  it('a new 180 with a new RSeq is sent every minute, so that no proxy cancels the call', () => {
    const caller = new ScriptedCaller()
    caller.callee.session.progress(180)
    caller.pair.time.advance(50)
    caller.prack(0)
    caller.pair.time.advance(60_000)
    expect(caller.heard).toEqual(['180 0', '180 1'])
  })
})

it('100rel between two user agents over a network that loses 30 %: every call is answered with the early answer', () => {
  let answered = 0
  for (let seed = 1; seed <= 100; seed++) {
    const pair = new Pair({ seed, loss: 0.3 })
    pair.b.onCall = session => {
      session.progress(183, sdp('early'))
      session.answer(sdp('early'))
      return () => {}
    }
    const caller = pair.call({ headers: [['Require', '100rel']] })
    pair.time.advance(120_000)
    const end = caller.end
    if (end === undefined) {
      expect(caller.body('answered'), `seed ${seed}`).toBe('early')
      answered++
    } else expect([408, 504], `seed ${seed}: ${end.detail}`).toContain(end.status)
    caller.session.hangUp()
    pair.time.advance(200_000)
    for (const { session } of pair.b.calls) session.hangUp()
    pair.time.advance(200_000)
    expect([pair.a.ua.footprint, pair.b.ua.footprint], `seed ${seed}`).toEqual([clean, clean])
  }
  expect(answered).toBeGreaterThan(90)
})
