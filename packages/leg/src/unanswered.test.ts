import { describe, expect, it } from 'vitest'
import type { SipCallLeg } from './sip-call-leg.ts'
import { VirtualLine } from './virtual-line.ts'

/** A call at `b` that is not answered yet. `rings`: default true. */
async function ringing(options: { readonly rings?: boolean } = {}): Promise<{ line: VirtualLine; callee: SipCallLeg }> {
  const line = new VirtualLine()
  line.onOffer = leg => {
    if (options.rings ?? true) leg.ring()
  }
  await line.dial()
  await line.pass(200)
  return { line, callee: line.b.leg! }
}

describe('an inbound call that is not answered yet', () => {
  it.each([true, false])('an inbound call can be answered after 10 s (180 was sent: %s)', async rings => {
    const { line, callee } = await ringing({ rings })
    await line.pass(10_000)
    expect(callee.state).toBe(rings ? 'ringing' : 'offered')
    callee.answer()
    await line.pass(1000)
    expect([line.a.leg!.state, callee.state]).toEqual(['active', 'active'])
    expect(line.signalling.passed.filter(({ text }) => text.startsWith('INVITE'))).toHaveLength(1)
  })

  it('an inbound call can be refused after 10 s', async () => {
    const { line, callee } = await ringing()
    await line.pass(10_000)
    callee.reject(486)
    // Later decisions do nothing and throw no error.
    callee.answer()
    callee.ring()
    callee.reject(603)
    await line.pass(1000)
    expect(line.a.end).toMatchObject({ cause: 'rejected', by: 'remote', sipStatus: 486 })
    expect(line.b.end).toMatchObject({ cause: 'rejected', by: 'local', sipStatus: 486, answered: false })
    expect(line.b.context.media.describe()).toContain('0 leased')
  })

  it('an inbound call ends when the caller cancels, and a later answer() does nothing', async () => {
    const { line, callee } = await ringing()
    await line.pass(5000)
    line.a.leg!.hangUp()
    await line.pass(1000)
    expect(line.b.end).toMatchObject({ cause: 'cancelled', by: 'remote', sipStatus: 487, answered: false })
    const before = line.signalling.passed.length
    callee.answer()
    callee.reject(480)
    callee.ring()
    callee.hangUp()
    await line.pass(60_000)
    expect(line.signalling.passed).toHaveLength(before)
    expect(line.b.eventTypes()).toEqual(['ended'])
    expect(line.b.context.media.describe()).toContain('0 leased')
  })

  it('answer(), ring() and reject() do nothing after the session has ended, even before the leg gets the event', async () => {
    const line = new VirtualLine()
    const callees: SipCallLeg[] = []
    line.onOffer = leg => {
      callees.push(leg)
      leg.ring()
    }
    await line.dial()
    await line.dial()
    await line.pass(200)
    const [first, second] = callees
    const ends: string[] = []
    first!.onEvent(event => {
      if (event.type === 'ended') second!.answer()
    })
    second!.onEvent(event => {
      if (event.type === 'ended') ends.push(event.end.cause)
    })
    void line.b.context.userAgent.close()
    // The session has ended; the leg has not received the event yet.
    second!.answer()
    second!.ring()
    second!.reject(486)
    await line.pass(1000)
    expect(ends).toEqual(['rejected'])
  })

  it('a second answer() and a reject() after answer() do nothing', async () => {
    const { line, callee } = await ringing()
    callee.answer()
    callee.answer()
    callee.reject(486)
    await line.pass(1000)
    callee.answer()
    callee.reject(486)
    await line.pass(1000)
    expect([line.a.leg!.state, callee.state]).toEqual(['active', 'active'])
  })

  it('an inbound leg exposes the INVITE as it was received', async () => {
    const { callee } = await ringing()
    expect(callee.invite.method).toBe('INVITE')
    expect(callee.invite.headers.has('Session-Expires')).toBe(true)
    expect(callee.invite.from.uri).toMatchObject({ user: 'alice' })
  })
})
