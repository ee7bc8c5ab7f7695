import { parseUri } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { VirtualLine } from './virtual-line.ts'

async function established(line: VirtualLine): Promise<void> {
  await line.dial()
  await line.pass(1000)
  expect(line.a.eventTypes()).toContain('answered')
  expect(line.b.eventTypes()).toContain('answered')
}

describe('a call leg', () => {
  it('a call rings, is answered, carries digits, and ends once with a report on both sides', async () => {
    const line = new VirtualLine()
    await established(line)
    expect(line.a.leg!.transport).toEqual({ signalling: 'tls', media: 'srtp' })
    line.a.leg!.sendDigits('42#')
    await line.pass(2000)
    expect(line.b.events.flatMap(event => (event.type === 'digit' ? [event.digit] : [])).join('')).toBe('42#')
    line.b.leg!.hangUp()
    await line.pass(1000)
    expect(line.a.end).toMatchObject({ answered: true, by: 'remote', cause: 'bye', sipStatus: 200, confirmed: true })
    expect(line.b.end).toMatchObject({ answered: true, by: 'local', cause: 'bye', sipStatus: 200, confirmed: true })
    expect(line.a.end!.media!.statistics.packetsReceived).toBeGreaterThan(100)
    expect(line.a.eventTypes().filter(fact => fact === 'ended')).toHaveLength(1)
  })

  it('a leg whose trunk wants INFO sends each digit so, although the far end accepts telephone-event', async () => {
    const line = new VirtualLine()
    await line.dial({ digitsByInfo: true })
    await line.pass(1000)
    const sources = (of: VirtualLine['a']) =>
      of.events.flatMap(event => (event.type === 'digit' ? [`${event.digit} ${event.source}`] : []))
    line.a.leg!.sendDigits('4#')
    line.b.leg!.sendDigits('2')
    await line.pass(2000)
    expect(sources(line.b)).toEqual(['4 info', '# info'])
    expect(sources(line.a)).toEqual(['2 rfc4733'])
  })

  it('a leg holds, changes its keys and resumes; the other side gets "held" and "resumed"', async () => {
    const line = new VirtualLine()
    await established(line)
    line.a.leg!.hold()
    line.a.leg!.rekey()
    line.a.leg!.resume()
    await line.pass(2000)
    expect(line.a.events.flatMap(event => (event.type === 'reoffered' ? [event.purpose] : []))).toEqual([
      'hold',
      'rekey',
      'resume',
    ])
    expect(line.b.eventTypes().filter(fact => fact === 'held' || fact === 'resumed')).toEqual(['held', 'resumed'])
    expect(line.b.leg!.held).toBe(false)
  })

  it('a call survives holds from both ends at once (glare)', async () => {
    const line = new VirtualLine()
    await established(line)
    line.a.leg!.hold()
    line.b.leg!.hold()
    await line.pass(10_000)
    expect(line.a.eventTypes()).toContain('reoffered')
    expect(line.b.eventTypes()).toContain('reoffered')
    line.a.leg!.resume()
    await line.pass(5000)
    line.b.leg!.resume()
    await line.pass(5000)
    expect([line.a.leg!.held, line.b.leg!.held]).toEqual([false, false])
    expect([line.a.leg!.state, line.b.leg!.state]).toEqual(['active', 'active'])
  })

  it('a call with a delayed offer is answered and carries digits', async () => {
    const line = new VirtualLine()
    await line.dial({ delayedOffer: true })
    await line.pass(1000)
    expect(line.a.eventTypes()).toContain('answered')
    expect(line.b.eventTypes()).toContain('answered')
    line.b.leg!.sendDigits('7')
    await line.pass(1000)
    expect(line.a.events.find(event => event.type === 'digit')).toMatchObject({ digit: '7' })
  })

  it('a leg that requires SRTP answers an offer of plain RTP with 488 and allocates no port', async () => {
    const line = new VirtualLine()
    await line.dial({ security: 'rtp-only' })
    await line.pass(1000)
    expect(line.a.end).toMatchObject({ answered: false, by: 'remote', cause: 'rejected', sipStatus: 488 })
    expect(line.b.leg).toBeNull()
    expect(line.b.context.media.describe()).toContain('0 leased')
  })

  it('a call that is not answered within the ring timeout is cancelled', async () => {
    const line = new VirtualLine()
    line.onOffer = leg => leg.ring()
    await line.dial({ ringTimeoutMs: 5000 })
    await line.pass(6000)
    expect(line.a.eventTypes()).toContain('ringing')
    expect(line.a.end).toMatchObject({
      answered: false,
      by: 'local',
      cause: 'timeout',
      sipStatus: 487,
      confirmed: true,
    })
    expect(line.b.end).toMatchObject({ answered: false, by: 'remote', cause: 'cancelled' })
  })

  it('a call goes on when its transfer is refused, and the event has the status of the REFER', async () => {
    const line = new VirtualLine()
    await established(line)
    line.a.leg!.transfer(parseUri('sip:carol@192.0.2.9')!)
    await line.pass(2000)
    expect(line.a.events.find(event => event.type === 'transfer-result')).toEqual({
      type: 'transfer-result',
      taken: false,
      receipt: { referStatus: 403, finalSipStatus: null, disconnectReason: null },
    })
    expect([line.a.leg!.state, line.b.leg!.state]).toEqual(['active', 'active'])
  })

  it('a leg whose listener throws hangs up with cause internal', async () => {
    const line = new VirtualLine()
    await established(line)
    line.a.leg!.onEvent(event => {
      if (event.type === 'digit') throw new Error('a bug')
    })
    line.b.leg!.sendDigits('1')
    await line.pass(2000)
    expect(line.a.end).toMatchObject({ cause: 'internal', detail: 'a bug', by: 'local', confirmed: true })
    expect(line.b.end).toMatchObject({ cause: 'bye', by: 'remote' })
  })

  it('a call without RTP for 20 s ends as media-lost, unless it is on hold', async () => {
    const line = new VirtualLine()
    await established(line)
    line.a.leg!.hold()
    await line.pass(40_000)
    expect([line.a.leg!.state, line.b.leg!.state]).toEqual(['active', 'active'])
    line.a.leg!.resume()
    await line.pass(1000)
    line.packets.setConditions({ loss: 1 })
    await line.pass(25_000)
    expect([line.a.end?.cause, line.b.end?.cause]).toContain('media-lost')
    expect(line.a.end?.sipStatus).toBe(200)
  })

  it('a call that has ended holds no ports, sessions, transactions or timers', async () => {
    const line = new VirtualLine()
    await established(line)
    line.a.leg!.hangUp()
    await line.pass(60_000)
    expect(line.a.context.media.describe()).toContain('0 leased')
    expect(line.b.context.media.describe()).toContain('0 leased')
    expect(line.a.context.userAgent.sessionCount).toBe(0)
    expect(line.b.context.userAgent.sessionCount).toBe(0)
    expect(line.time.nextDeadline()).toBeUndefined()
  })
})
