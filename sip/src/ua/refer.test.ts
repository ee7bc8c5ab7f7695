import { describe, expect, it } from 'vitest'
import { Pair, sipUri } from './testing/pair.ts'
import { ScriptedCallee } from './testing/scripted-callee.ts'
import type { Reply } from './testing/scripted-peer.ts'

const target = sipUri('desk', 'other.test', 'udp')
const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }

/** An established call with an answered REFER. */
function referred(status: number | undefined, reply: Reply = {}) {
  const callee = new ScriptedCallee(new Pair()).answer()
  callee.caller.session.refer(target)
  callee.pair.time.advance(100)
  if (status !== undefined) callee.peer.reply(callee.peer.last('REFER'), status, reply)
  callee.pair.time.advance(100)
  return callee
}

function notify(callee: ScriptedCallee, state: string, body: string, event = 'refer') {
  const headers = [`Event: ${event}`, 'Content-Type: message/sipfrag;version=2.0']
  return callee.send('NOTIFY', {
    headers: state === '' ? headers : [...headers, `Subscription-State: ${state}`],
    body: `${body}\r\n`,
  })
}

describe('a REFER of the peer', () => {
  it('a REFER is refused with 403 and reported with its target', () => {
    const callee = new ScriptedCallee(new Pair()).answer()
    expect(callee.send('REFER', { headers: ['Refer-To: "Boss" <sip:boss@pbx.test>'] })).toBe(403)
    expect(callee.send('REFER', { headers: ['Refer-To: ,'] })).toBe(403)
    expect(callee.events('refer-refused')).toEqual([
      { type: 'refer-refused', status: 403, target: 'sip:boss@pbx.test' },
      { type: 'refer-refused', status: 403, target: undefined },
    ])
    expect(callee.caller.session.state).toBe('confirmed')
  })

  it('every REFER is refused, and eight of a call are reported', () => {
    const callee = new ScriptedCallee(new Pair()).answer()
    for (let i = 0; i < 20; i++) expect(callee.send('REFER', { headers: ['Refer-To: <sip:x@y.test>'] })).toBe(403)
    expect(callee.events('refer-refused')).toHaveLength(8)
  })
})

describe('blind transfer by REFER (RFC 3515)', () => {
  it('202, NOTIFYs with sipfrag 100, 180, 200, terminated: progress, one result, and the call continues until it is hung up', () => {
    const callee = referred(202)
    const { request } = callee.peer.last('REFER')
    expect(request.headers.get('Refer-To')).toBe('<sip:desk@other.test;transport=udp>')
    expect(request.contact).toHaveLength(1)
    expect(notify(callee, 'active;expires=60', 'SIP/2.0 100 Trying')).toBe(200)
    expect(notify(callee, 'active;expires=60', 'SIP/2.0 180 Ringing')).toBe(200)
    expect(callee.events('refer-result')).toEqual([])
    expect(notify(callee, 'terminated;reason=noresource', 'SIP/2.0 200 OK')).toBe(200)
    expect(callee.events('refer-progress').map(({ status }) => status)).toEqual([100, 180, 200])
    const result = { referStatus: 202, finalSipStatus: 200, subscriptionReason: 'noresource' }
    expect(callee.events('refer-result')).toEqual([{ type: 'refer-result', ...result }])
    expect(callee.caller.session.state).toBe('confirmed')
    // RFC 6665 section 4.1.3: the subscription has ended.
    expect(notify(callee, 'terminated', 'SIP/2.0 200 OK')).toBe(481)
    callee.caller.session.hangUp()
    callee.pair.time.advance(100)
    callee.peer.reply(callee.peer.last('BYE'), 200)
    callee.pair.time.advance(100_000)
    expect(callee.caller.end).toMatchObject({ cause: 'bye', confirmed: true })
    expect(callee.pair.a.ua.footprint).toEqual(clean)
  })

  it('if the target does not answer, its final status is the result', () => {
    const callee = referred(200)
    notify(callee, 'terminated;reason=noresource', 'SIP/2.0 486 Busy Here')
    expect(callee.events('refer-result')).toMatchObject([{ referStatus: 200, finalSipStatus: 486 }])
  })

  it.each([302, 403, 405, 503, 603])(
    'a REFER refused with %i gives its result at once, and the call continues',
    status => {
      const callee = referred(status)
      expect(callee.events('refer-result')).toMatchObject([{ referStatus: status, finalSipStatus: null }])
      expect(callee.caller.session.state).toBe('confirmed')
      expect(callee.peer.methods().filter(method => method === 'INVITE')).toHaveLength(1)
    },
  )

  it('a 481 to the REFER ends the session after the result', () => {
    const callee = referred(481)
    callee.peer.reply(callee.peer.last('BYE'), 481)
    callee.pair.time.advance(100)
    expect(callee.caller.types.slice(-2)).toEqual(['refer-result', 'ended'])
  })

  it('an unanswered REFER counts as 408', () => {
    const callee = referred(undefined)
    callee.pair.time.advance(32_000)
    expect(callee.events('refer-result')).toMatchObject([{ referStatus: 408, finalSipStatus: null }])
  })

  it('a NOTIFY that overtakes the 202 is accepted, and the result waits for the 202 (RFC 6665 section 4.1.2.4)', () => {
    const callee = referred(undefined)
    expect(notify(callee, 'terminated;reason=noresource', 'SIP/2.0 200 OK')).toBe(200)
    expect(callee.events('refer-result')).toEqual([])
    callee.peer.reply(callee.peer.last('REFER'), 202)
    callee.pair.time.advance(100)
    expect(callee.events('refer-result')).toMatchObject([{ referStatus: 202, finalSipStatus: 200 }])
  })

  it('if the far end hangs up before the final NOTIFY, the last known status is the result, before "ended"', () => {
    const callee = referred(202)
    notify(callee, 'active', 'SIP/2.0 180 Ringing')
    expect(callee.send('BYE')).toBe(200)
    expect(callee.caller.types.slice(-2)).toEqual(['refer-result', 'ended'])
    expect(callee.events('refer-result')).toMatchObject([{ referStatus: 202, finalSipStatus: null }])
  })

  it('the result comes 3 minutes after the REFER without NOTIFYs, or 5 s after a final status without termination', () => {
    const silent = referred(202)
    silent.pair.time.advance(179_000)
    expect(silent.events('refer-result')).toEqual([])
    silent.pair.time.advance(1000)
    expect(silent.events('refer-result')).toMatchObject([{ referStatus: 202, finalSipStatus: null }])

    const forgetful = referred(202)
    notify(forgetful, 'active', 'SIP/2.0 200 OK')
    forgetful.pair.time.advance(5000)
    expect(forgetful.events('refer-result')).toMatchObject([{ finalSipStatus: 200, subscriptionReason: null }])
  })

  it('with Refer-Sub: false (RFC 4488) the 2xx is the result', () => {
    const callee = referred(202, { headers: [['Refer-Sub', 'false']] })
    expect(callee.events('refer-result')).toMatchObject([{ referStatus: 202, finalSipStatus: null }])
  })

  it('a NOTIFY counts only if event id (RFC 3515 section 2.4.6), event package and body match the REFER', () => {
    const callee = referred(202)
    const { sequence } = callee.peer.last('REFER').request.cseq
    expect(notify(callee, 'active', 'SIP/2.0 180 Ringing', `refer;id=${sequence}`)).toBe(200)
    expect(notify(callee, 'terminated', 'SIP/2.0 200 OK', `refer;id=${sequence + 1}`)).toBe(481)
    expect(notify(callee, 'terminated', 'SIP/2.0 200 OK', 'message-summary')).toBe(489)
    expect(callee.lastResponse?.headers.get('Allow-Events')).toBe('refer')
    expect(callee.send('NOTIFY', { headers: ['Event: refer', 'Content-Type: text/html'], body: '<p>' })).toBe(415)
    for (const body of ['', 'INVITE sip:x SIP/2.0', 'SIP/2.0 9', 'SIP/3.0 200 OK', `SIP/2.0 200${'9'.repeat(9000)}`]) {
      expect(notify(callee, 'active', body)).toBe(200)
    }
    expect(callee.events('refer-progress').map(({ status }) => status)).toEqual([180])
    expect(callee.events('refer-result')).toEqual([])
  })

  it('a NOTIFY without a REFER gets 481, in a dialog and outside', () => {
    const callee = new ScriptedCallee(new Pair()).answer()
    expect(notify(callee, 'active', 'SIP/2.0 200 OK')).toBe(481)
    expect(callee.caller.types).not.toContain('refer-progress')
  })

  it('a REFER is refused while another is pending, before the answer, and with invalid headers', () => {
    const callee = referred(202)
    expect(() => callee.caller.session.refer(target)).toThrow(expect.objectContaining({ code: 'wrong_state' }))
    const other = new ScriptedCallee(new Pair())
    expect(() => other.caller.session.refer(target)).toThrow(expect.objectContaining({ code: 'wrong_state' }))
    other.answer()
    expect(() => other.caller.session.refer(target, { headers: [['X-A', 'b\r\nBad: 1']] })).toThrow(
      expect.objectContaining({ code: 'header_injection' }),
    )
    const referredBy = { displayName: undefined, uri: sipUri('alice', 'a.test', 'udp'), params: new Map() }
    other.caller.session.refer({ displayName: 'Desk', uri: target, params: new Map() }, { referredBy })
    other.pair.time.advance(100)
    const { headers } = other.peer.last('REFER').request
    expect(headers.get('Refer-To')).toBe('"Desk" <sip:desk@other.test;transport=udp>')
    expect(headers.get('Referred-By')).toBe('<sip:alice@a.test;transport=udp>')
  })

  it('the callee can transfer as well', () => {
    const pair = new Pair({ transport: 'tls' })
    const { callee } = pair.established()
    callee.session.refer(target)
    pair.time.advance(100)
    expect(callee.events.at(-1)).toMatchObject({ type: 'refer-result', referStatus: 403 })
  })

  it('a REFER whose connection closed is not sent again, so that the target is not called twice', () => {
    const pair = new Pair({ transport: 'tcp' })
    const { caller } = pair.established()
    caller.session.refer(target)
    pair.time.advance(5)
    pair.a.transport.cutAll()
    pair.time.advance(40_000)
    expect(caller.events.at(-1)).toMatchObject({ type: 'refer-result', referStatus: 503, finalSipStatus: null })
    expect(pair.trace.filter(line => line === 'a> REFER')).toHaveLength(1)
  })

  it("the far end's REFER is refused 403 for every target", () => {
    const callee = new ScriptedCallee(new Pair()).answer()
    expect(callee.send('REFER', { headers: ['Refer-To: <sip:+88213000@premium.test>'] })).toBe(403)
    callee.pair.time.advance(60_000)
    expect(callee.pair.trace.filter(line => line === 'a> INVITE')).toHaveLength(1)
    expect(callee.caller.session.state).toBe('confirmed')
  })
})
