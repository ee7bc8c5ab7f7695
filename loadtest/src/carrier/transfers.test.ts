import { describe, expect, it } from 'vitest'
import type { CarrierOptions } from './carrier.ts'
import { CarrierLine } from './carrier-line.fixture.ts'
import type { NumberRuleInput } from './number-plan.ts'

const NUMBER = 'sip:+15550001@192.0.2.2;transport=udp'
const TARGET = 'sip:+1777@192.0.2.2'

/** A line whose caller asks to be transferred, half a second after the answer; its own numbers say what becomes of that. */
function lineWith(target: NumberRuleInput['behaviour'], options: Partial<CarrierOptions> = {}): CarrierLine {
  return new CarrierLine({
    transfers: 'take',
    numbers: [
      { number: '+1555*', behaviour: { do: 'answer' } },
      { number: '+1777', ringAfterMs: 200, behaviour: target },
    ],
    ...options,
  })
}

const asks = (line: CarrierLine, more = {}) =>
  line.caller.call({ uri: NUMBER, from: '+15559', refer: { to: TARGET, afterMs: 500 }, ...more })

/** Statuses that were reported by NOTIFY, with the state of the subscription. */
function reportedStatuses(line: CarrierLine): string[] {
  return line.network.passed
    .filter(({ text }) => text.startsWith('NOTIFY '))
    .map(({ text }) => `${/^Subscription-State: (\w+)/m.exec(text)?.[1]} ${/\r\n\r\nSIP\/2.0 (\d+)/.exec(text)?.[1]}`)
}

const transfers = (line: CarrierLine) =>
  line.carrier.ledger
    .query()
    .transfers()
    .map(({ target, referStatus, finalStatus }) => [target, referStatus, finalStatus])

describe('a caller that asks to be transferred', () => {
  it('the transferring caller gets NOTIFYs about the call to the target and hangs up when it is answered', async () => {
    const line = lineWith({ do: 'answer', afterMs: 1000 })
    await asks(line)
    await line.pass(4000)
    expect(reportedStatuses(line)).toEqual(['active 100', 'active 180', 'terminated 200'])
    expect(transfers(line)).toEqual([['+1777', 202, 200]])
    expect(line.kinds.filter(kind => /refer|transferred|bye/.test(kind))).toEqual([
      'refer-received',
      'refer-answered',
      'transferred',
      'bye-received',
    ])
    expect(line.carrier.liveCalls).toBe(0)
    expect(line.carrier.ledger.query().withoutEnd()).toEqual([])
  })

  it.each<[NumberRuleInput['behaviour'], number, string[]]>([
    [{ do: 'refuse', status: 486, afterMs: 500 }, 486, ['active 100', 'active 180', 'terminated 486']],
    [{ do: 'redirect', contact: 'sip:x@192.0.2.9' }, 302, ['active 100', 'terminated 302']],
    [{ do: 'ring' }, 480, ['active 100', 'active 180', 'terminated 480']],
    [{ do: 'ignore' }, 408, ['active 100', 'terminated 408']],
  ])('a transfer to a number with the rule %j reports %i', async (behaviour, status, states) => {
    const line = lineWith(behaviour)
    await asks(line)
    await line.pass(40_000)
    expect(reportedStatuses(line)).toEqual(states)
    expect(transfers(line)).toEqual([['+1777', 202, status]])
  })

  it('a transfer to an unknown number reports 404', async () => {
    const line = lineWith({ do: 'answer' })
    await asks(line, { refer: { to: 'sip:+44@192.0.2.2' } })
    await line.pass(2000)
    expect(transfers(line)).toEqual([['+44', 202, 404]])
  })

  it.each([403, 405, 503, 603])('a carrier without transfers refuses REFER with %i', async status => {
    const line = lineWith({ do: 'answer' }, { transfers: status })
    await asks(line)
    await line.pass(2000)
    expect(reportedStatuses(line)).toEqual([])
    expect(transfers(line)).toEqual([['+1777', status, null]])
  })

  it('without a setting for transfers the user agent refuses REFER', async () => {
    const line = new CarrierLine()
    await asks(line)
    await line.pass(2000)
    expect(transfers(line)).toEqual([['+1777', 403, null]])
  })

  it('a REFER takes effect once on a network that loses datagrams', async () => {
    const line = lineWith({ do: 'answer', afterMs: 1000 })
    const call = await asks(line, { refer: { to: TARGET, afterMs: 3000 } })
    await line.pass(2500)
    line.network.loss = 0.4
    await line.pass(20_000)
    line.network.loss = 0
    await line.pass(30_000)
    expect(transfers(line)).toEqual([['+1777', 202, 200]])
    expect(call.state).toBe('terminated')
  })

  it('the BYE of the carrier after a transfer has a CSeq number after those of the NOTIFYs', async () => {
    const line = lineWith({ do: 'answer', afterMs: 500 })
    // The carrier's end of a call that it brought; the far end asks for a transfer and stays, as some do.
    const call = await line.carrier.call({
      uri: 'sip:token@192.0.2.1;transport=udp',
      from: '+4930',
      reinvite: { afterMs: 2000 },
    })
    await line.pass(1000)
    const stranger = line.network.passed.find(({ text }) => text.startsWith('ACK '))!.text
    const [, callId] = /^Call-ID: (.*)\r$/m.exec(stranger)!
    const tags = [...stranger.matchAll(/;tag=([^;\r]+)/g)].map(([, tag]) => tag)
    const refer = [
      'REFER sip:192.0.2.2 SIP/2.0',
      'Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKrefer;rport',
      'Max-Forwards: 70',
      `From: <sip:token@192.0.2.1>;tag=${tags[1]}`,
      `To: <sip:+4930@192.0.2.2>;tag=${tags[0]}`,
      `Call-ID: ${callId}`,
      'CSeq: 900 REFER',
      'Contact: <sip:192.0.2.1>',
      `Refer-To: <${TARGET}>`,
      'Content-Length: 0',
    ]
    const target = { transport: 'udp', address: '192.0.2.2', port: 5060, serverName: '192.0.2.2' } as const
    const far = line.network.element({ address: '192.0.2.3' })
    far.onInput(() => {})
    far.submit({ type: 'send', sendId: 1, to: { target }, bytes: Buffer.from(`${refer.join('\r\n')}\r\n\r\n`) })
    await line.pass(3000)
    expect(transfers(line)).toEqual([['+1777', 202, 200]])
    call.hangUp()
    await line.pass(2000)
    const ours = line.network.passed.flatMap(({ text }) => {
      const [, number, method] = /^CSeq: (\d+) (\w+)/m.exec(text) ?? []
      return /^(INVITE|NOTIFY|BYE) /.test(text) && text.includes(callId!) ? [`${method} ${number}`] : []
    })
    // Some were sent again.
    const once = [...new Set(ours)].map(one => one.split(' '))
    expect(once.map(([method]) => method)).toEqual(['INVITE', 'NOTIFY', 'NOTIFY', 'NOTIFY', 'INVITE', 'BYE'])
    const numbers = once.map(([, number]) => Number(number) - Number(once[0]![1]))
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5])
    expect(call.state).toBe('terminated')
    expect(line.carrier.ledger.entries.find(row => row.kind === 'ended')?.detail).toBe('bye answered 200')
  })
})

describe('rules for an established call', () => {
  it('a rule with re-INVITEs refreshes the call, which continues', async () => {
    const line = new CarrierLine({
      numbers: [{ number: '*', behaviour: { do: 'answer', reinvite: { afterMs: 500, times: 3, everyMs: 400 } } }],
    })
    const call = await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(4000)
    const inDialog = line.network.passed.filter(({ text }) => text.startsWith('INVITE ') && /^To: .*;tag=/m.test(text))
    expect(inDialog).toHaveLength(3)
    expect(call.state).toBe('confirmed')
    expect(line.kinds).not.toContain('ended')
  })

  it('the ledger records the REFERs that the carrier sends', async () => {
    const line = new CarrierLine({
      numbers: [{ number: '*', behaviour: { do: 'answer', refer: { to: TARGET, afterMs: 100 } } }],
    })
    await line.caller.call({ uri: NUMBER, from: '+15559' })
    await line.pass(2000)
    const rows = line.carrier.ledger.entries.filter(({ kind }) => kind.startsWith('refer'))
    expect(rows).toMatchObject([
      { kind: 'refer-sent', target: '+1777' },
      { kind: 'refer-answered', status: 403 },
    ])
    expect(line.carrier.ledger.query().transfers()).toEqual([])
  })
})
