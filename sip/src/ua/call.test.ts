import { describe, expect, it } from 'vitest'
import { Pair, sdp } from './testing/pair.ts'

describe.each(['udp', 'tcp', 'tls'] as const)('a call over %s', transport => {
  it('rings, is answered, acknowledged and hung up by the caller', () => {
    const pair = new Pair({ transport })
    const caller = pair.call()
    pair.time.advance(100)
    const callee = pair.b.calls[0]!
    callee.session.progress(180)
    pair.time.advance(100)
    callee.session.answer(sdp('answer'))
    pair.time.advance(100)
    expect(caller.session.state).toBe('confirmed')
    expect(caller.body('answered')).toBe('answer')
    expect(callee.types).toEqual(['acknowledged'])
    caller.session.hangUp()
    pair.time.advance(100)
    expect(caller.types).toEqual(['progress', 'answered', 'ended'])
    expect(caller.end).toMatchObject({ cause: 'bye', by: 'local', status: 200, confirmed: true })
    expect(callee.end).toMatchObject({ cause: 'bye', by: 'remote', status: 200, confirmed: true })
    expect(pair.trace).toEqual(['a> INVITE', 'b> 180 INVITE', 'b> 200 INVITE', 'a> ACK', 'a> BYE', 'b> 200 BYE'])
  })

  it('a call is hung up by the callee', () => {
    const pair = new Pair({ transport })
    const { caller, callee } = pair.established()
    callee.session.hangUp()
    pair.time.advance(100)
    expect(callee.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true })
    expect(caller.end).toMatchObject({ cause: 'bye', by: 'remote', confirmed: true })
  })
})
