import { describe, expect, it } from 'vitest'
import type { SessionTimerOptions } from './session-timer-options.ts'
import { Pair, sdp, textOf } from './testing/pair.ts'
import { ScriptedCallee } from './testing/scripted-callee.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }
const timer = (expiresS: number, refresher?: 'local' | 'remote'): SessionTimerOptions => ({
  expiresS,
  ...(refresher && { refresher }),
})

/** Seconds at which `line` passed, from the first one that passed. */
function times(pair: Pair, line: string): number[] {
  const start = pair.network.passed[0]!.at
  return pair.network.passed.filter((_, i) => pair.trace[i] === line).map(({ at }) => Math.floor((at - start) / 1000))
}

function established(sessionTimer: SessionTimerOptions, answering?: SessionTimerOptions) {
  const pair = new Pair()
  const caller = pair.call({ sessionTimer })
  pair.time.advance(200)
  const callee = pair.b.calls[0]!
  callee.session.answer(sdp('answer'), answering === undefined ? {} : { sessionTimer: answering })
  pair.time.advance(200)
  return { pair, caller, callee }
}

function headersOf(pair: Pair, start: string) {
  const text = pair.network.passed.findLast(message => message.text.startsWith(start))?.text ?? ''
  return (name: string) => new RegExp(`^${name}: (.*)\r$`, 'm').exec(text)?.[1]
}

/** A call to a scripted peer that agreed on an interval and on supported methods. */
function agreed(sessionExpires: string | undefined, allow: string, options: Parameters<Pair['call']>[0] = {}) {
  const callee = new ScriptedCallee(new Pair(), options)
  const headers: [string, string][] = [['Allow', allow]]
  if (sessionExpires !== undefined) headers.push(['Session-Expires', sessionExpires])
  return callee.answer({ headers })
}

/** CSeq numbers of the UPDATEs that the peer received, without repetitions. */
const updates = ({ peer }: ScriptedCallee) => [
  ...new Set(peer.requests.filter(({ method }) => method === 'UPDATE').map(({ cseq }) => cseq.sequence)),
]

/** The peer answers every UPDATE like this. */
function answerUpdates({ peer }: ScriptedCallee, status: number): void {
  peer.onMessage = (message, flow) => {
    if (message.kind === 'request' && message.method === 'UPDATE') peer.reply({ request: message, flow }, status)
  }
}

const WITH_UPDATE = 'INVITE, ACK, BYE, UPDATE'
const WITHOUT_UPDATE = 'INVITE, ACK, BYE'

describe('session timers (RFC 4028): choice of the refresher', () => {
  it('the default interval is 1800 s, and the caller refreshes at half of it by UPDATE without SDP', () => {
    const { pair, caller, callee } = established({})
    const invite = headersOf(pair, 'INVITE')
    expect([invite('Session-Expires'), invite('Min-SE')]).toEqual(['1800', undefined])
    expect(invite('Supported')).toContain('timer')
    const ok = headersOf(pair, 'SIP/2.0 200')
    expect([ok('Session-Expires'), ok('Require')]).toEqual(['1800;refresher=uac', 'timer'])
    pair.time.advance(40 * 60_000)
    expect(times(pair, 'a> UPDATE')).toEqual([900, 1800])
    expect(times(pair, 'b> UPDATE')).toEqual([])
    const update = headersOf(pair, 'UPDATE')
    expect([update('Session-Expires'), update('Content-Length')]).toEqual(['1800;refresher=uac', '0'])
    expect(caller.events.filter(({ type }) => type === 'refreshed')).toEqual(
      [1, 2].map(() => ({ type: 'refreshed', by: 'local' })),
    )
    expect(callee.events.filter(({ type }) => type === 'refreshed')).toEqual(
      [1, 2].map(() => ({ type: 'refreshed', by: 'remote' })),
    )
    caller.session.hangUp()
    pair.time.advance(60_000)
    expect(pair.a.ua.footprint).toEqual(clean)
  })

  it.each([
    ['the caller, as it requested', timer(600, 'local'), undefined, 'a'],
    ['the callee, as the caller requested', timer(600, 'remote'), undefined, 'b'],
    ['the callee, by its own choice', timer(600), timer(600, 'local'), 'b'],
  ] as const)('%s, as long as the call lasts', (_who, requested, answering, side) => {
    const { pair, callee } = established(requested, answering)
    pair.time.advance(3_000_000)
    const [ours, theirs] = side === 'a' ? ['a> UPDATE', 'b> UPDATE'] : ['b> UPDATE', 'a> UPDATE']
    expect(times(pair, ours)).toEqual([300, 600, 900, 1200, 1500, 1800, 2100, 2400, 2700, 3000])
    expect(times(pair, theirs)).toEqual([])
    expect(callee.session.state).toBe('confirmed')
  })

  it('the shorter of the two intervals is used, but not below Min-SE', () => {
    const shorter = established(timer(1800), timer(900))
    expect(headersOf(shorter.pair, 'SIP/2.0 200')('Session-Expires')).toBe('900;refresher=uac')
    const least = established({ expiresS: 1800, minSeS: 1200 }, timer(900))
    expect(headersOf(least.pair, 'INVITE')('Min-SE')).toBe('1200')
    expect(headersOf(least.pair, 'SIP/2.0 200')('Session-Expires')).toBe('1200;refresher=uac')
  })

  it('the roles stay when the other side sends a re-INVITE, which refreshes as well (section 7.4)', () => {
    const { pair, caller, callee } = established(timer(600, 'local'))
    pair.time.advance(200_000)
    callee.session.reoffer(sdp('hold'))
    pair.time.advance(100)
    caller.session.acceptOffer(sdp('held'))
    expect(headersOf(pair, 'INVITE')('Session-Expires')).toBe('600;refresher=uas')
    pair.time.advance(200_000)
    expect(times(pair, 'a> UPDATE')).toEqual([])
    pair.time.advance(110_000)
    expect(times(pair, 'a> UPDATE')).toEqual([500])
    expect(times(pair, 'b> UPDATE')).toEqual([])
  })

  it('"off" requests no timer, and a peer that requests one gets it', () => {
    const off = established('off', 'off')
    expect(headersOf(off.pair, 'INVITE')('Session-Expires')).toBeUndefined()
    off.pair.time.advance(10_000_000)
    expect(off.pair.trace.filter(line => line.includes('UPDATE'))).toEqual([])
    const requested = established(timer(600, 'remote'), 'off')
    requested.pair.time.advance(301_000)
    expect(times(requested.pair, 'b> UPDATE')).toEqual([300])
  })
})

describe('session timers (RFC 4028): intervals that are too small', () => {
  it('422 with Min-SE: the INVITE comes again with the larger interval, once (section 7.3)', () => {
    const callee = new ScriptedCallee(new Pair(), { sessionTimer: timer(300) })
    const first = callee.invite
    callee.reply(422, { headers: [['Min-SE', '2400']] })
    const second = callee.invite
    expect(second.callId).toBe(first.callId)
    expect(second.cseq.sequence).toBe(first.cseq.sequence + 1)
    expect(textOf({ contentType: '', bytes: second.body })).toBe('offer')
    expect([second.headers.get('Session-Expires'), second.headers.get('Min-SE')]).toEqual(['2400', '2400'])
    callee.reply(422, { headers: [['Min-SE', '2400']] })
    expect(callee.peer.methods().filter(method => method === 'INVITE')).toHaveLength(2)
    expect(callee.caller.end).toMatchObject({ cause: 'rejected', status: 422 })
  })

  it('422 to a refresh: the UPDATE comes again with the larger interval', () => {
    const callee = agreed('600;refresher=uac', WITH_UPDATE)
    callee.pair.time.advance(300_000)
    callee.peer.reply(callee.peer.last('UPDATE'), 422, { headers: [['Min-SE', '1000']] })
    callee.pair.time.advance(100)
    expect(callee.peer.last('UPDATE').request.headers.get('Session-Expires')).toBe('1000;refresher=uac')
  })

  it.each([
    ['asked for with timer in Supported: 422 with Min-SE 90', ['Supported: timer', 'Session-Expires: 60'], 422],
    ['put there by a proxy: we refresh, and the peer is not asked to understand', ['Session-Expires: 60'], 200],
    ['90 is enough', ['Supported: timer', 'Session-Expires: 90'], 200],
  ])('Session-Expires below the minimum of 90 s, %s', (_how, headers, status) => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    peer.sendText(requestText({ method: 'INVITE', headers }), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(100)
    for (const { session } of pair.a.calls) session.answer(sdp('answer'))
    pair.time.advance(100)
    const response = peer.responses.at(-1)!
    expect(response.status).toBe(status)
    if (status === 422) {
      expect(response.headers.get('Min-SE')).toBe('90')
      expect(pair.a.ua.footprint).toEqual(clean)
    } else {
      const timed = headers.includes('Supported: timer')
      expect(response.headers.get('Session-Expires')).toBe(timed ? '90;refresher=uac' : '90;refresher=uas')
      expect(response.headers.get('Require')).toBe(timed ? 'timer' : undefined)
    }
  })

  it('422 to a re-INVITE and to an UPDATE as well', () => {
    const callee = agreed('600;refresher=uac', WITH_UPDATE)
    const headers = ['Supported: timer', 'Session-Expires: 30']
    expect([callee.send('UPDATE', { headers }), callee.send('INVITE', { headers })]).toEqual([422, 422])
    expect(callee.caller.types).not.toContain('offer')
  })
})

describe('session timers (RFC 4028): refreshes by re-INVITE', () => {
  it('with a peer without UPDATE the application is asked for a re-INVITE with the current SDP at half of the interval', () => {
    const callee = agreed('600;refresher=uac', WITHOUT_UPDATE)
    for (let round = 1; round <= 3; round++) {
      callee.pair.time.advance(299_000)
      expect(callee.events('refresh')).toHaveLength(round - 1)
      callee.pair.time.advance(1000)
      expect(callee.events('refresh')).toHaveLength(round)
      callee.caller.session.reoffer(sdp('offer'))
      callee.pair.time.advance(100)
      expect(callee.invite.headers.get('Session-Expires')).toBe('600;refresher=uac')
      callee.answer({ headers: [['Session-Expires', '600;refresher=uac']] })
      expect(callee.events('refreshed')).toHaveLength(round)
    }
    expect(callee.caller.session.state).toBe('confirmed')
  })

  it('after a 405 to the UPDATE the application is asked for a re-INVITE at once', () => {
    const callee = agreed('600;refresher=uac', WITH_UPDATE)
    callee.pair.time.advance(300_000)
    callee.peer.reply(callee.peer.last('UPDATE'), 405)
    callee.pair.time.advance(100)
    expect(callee.events('refresh')).toHaveLength(1)
  })

  it('an application that does not respond is asked again, and the session ends in time', () => {
    const callee = agreed('600;refresher=uac', WITHOUT_UPDATE)
    callee.pair.time.advance(568_200)
    expect(callee.events('refresh').length).toBeGreaterThan(3)
    expect(callee.events('refresh').length).toBeLessThan(12)
    expect(callee.peer.methods().at(-1)).toBe('BYE')
  })
})

describe('session timers (RFC 4028): expiry (section 10)', () => {
  it.each([
    [600, 568],
    [90, 60],
  ])('%i s without a refresh of the peer: BYE after %i s', (intervalS, afterS) => {
    const callee = agreed(`${intervalS};refresher=uas`, WITH_UPDATE)
    callee.pair.time.advance(afterS * 1000 - 200)
    expect(callee.peer.methods()).not.toContain('BYE')
    callee.pair.time.advance(400)
    expect(callee.peer.methods().at(-1)).toBe('BYE')
    callee.peer.reply(callee.peer.last('BYE'), 200)
    callee.pair.time.advance(40_000)
    expect(callee.caller.end).toMatchObject({ cause: 'timeout', status: 200, confirmed: true })
    expect(callee.caller.end?.detail).toContain('not refreshed')
    expect(callee.pair.a.ua.footprint).toEqual(clean)
  })

  it('a refresh of the peer, by UPDATE or re-INVITE, starts the interval anew', () => {
    const callee = agreed('600;refresher=uas', WITH_UPDATE)
    const headers = ['Supported: timer', 'Session-Expires: 600;refresher=uac']
    callee.pair.time.advance(500_000)
    expect(callee.send('UPDATE', { headers })).toBe(200)
    expect(callee.lastResponse?.headers.get('Session-Expires')).toBe('600;refresher=uac')
    expect(callee.lastResponse?.headers.get('Require')).toBe('timer')
    callee.pair.time.advance(500_000)
    callee.send('INVITE', { headers, body: 'same' })
    callee.caller.session.acceptOffer(sdp('same'))
    callee.send('ACK', { sequence: 101 })
    callee.pair.time.advance(500_000)
    expect(callee.caller.session.state).toBe('confirmed')
    expect(callee.events('refreshed')).toEqual([1, 2].map(() => ({ type: 'refreshed', by: 'remote' })))
  })

  it('with a peer without timer support only we refresh, and refusals do not end the call', () => {
    const callee = agreed(undefined, WITH_UPDATE, { sessionTimer: timer(600) })
    answerUpdates(callee, 500)
    callee.pair.time.advance(3_001_000)
    expect(updates(callee)).toHaveLength(10)
    expect(callee.caller.session.state).toBe('confirmed')
  })
})

describe('session timers (RFC 4028): refreshes that fail', () => {
  it.each([408, 481])('a %i to a refresh ends the session', status => {
    const callee = agreed('600;refresher=uac', WITH_UPDATE)
    callee.pair.time.advance(300_000)
    callee.peer.reply(callee.peer.last('UPDATE'), status)
    callee.pair.time.advance(100)
    expect(callee.peer.methods().at(-1)).toBe('BYE')
  })

  it('no answer to a refresh ends the session', () => {
    const callee = agreed('600;refresher=uac', WITH_UPDATE)
    callee.pair.time.advance(333_000)
    expect(callee.peer.methods().at(-1)).toBe('BYE')
  })

  it('a refresh refused with 503 is retried, and the session lasts until it expires', () => {
    const callee = agreed('600;refresher=uac', WITH_UPDATE)
    answerUpdates(callee, 503)
    callee.pair.time.advance(560_000)
    expect(callee.caller.session.state).toBe('confirmed')
    const attempts = updates(callee).length
    expect(attempts).toBeGreaterThan(2)
    expect(attempts).toBeLessThan(12)
    callee.pair.time.advance(9000)
    expect(callee.peer.methods().at(-1)).toBe('BYE')
  })

  it('491, glare: tried again in the band of RFC 3261 section 14.1; 500 with Retry-After: when it says', () => {
    const callee = agreed('600;refresher=uac', WITH_UPDATE)
    callee.pair.time.advance(300_000)
    callee.peer.reply(callee.peer.last('UPDATE'), 491)
    callee.pair.time.advance(2000)
    expect(updates(callee)).toHaveLength(1)
    callee.pair.time.advance(2200)
    expect(updates(callee)).toHaveLength(2)
    callee.peer.reply(callee.peer.last('UPDATE'), 500, { headers: [['Retry-After', '7']] })
    callee.pair.time.advance(7200)
    expect(updates(callee)).toHaveLength(3)
    callee.peer.reply(callee.peer.last('UPDATE'), 200, { headers: [['Session-Expires', '600;refresher=uac']] })
    callee.pair.time.advance(295_000)
    expect(updates(callee)).toHaveLength(3)
  })
})
