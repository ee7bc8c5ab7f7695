import { describe, expect, it } from 'vitest'
import { Pair } from './testing/pair.ts'

describe('custom headers', () => {
  it('headers of an outbound INVITE arrive at the callee', () => {
    const pair = new Pair()
    pair.call({
      headers: [
        ['X-Ticket', '4711'],
        ['X-Other', 'y'],
      ],
    })
    pair.time.advance(100)
    const { invite } = pair.b.calls[0]!.session
    expect(['X-Ticket', 'X-Other'].map(name => invite.headers.get(name))).toEqual(['4711', 'y'])
  })

  it.each([
    ['a line break', 'X-A', 'b\r\nVia: x', 'header_injection'],
    ['more than 1024 bytes', 'X-A', 'v'.repeat(1020), 'bad_field'],
    ['a name that is no token', 'X A', 'v', 'bad_field'],
    ['a field of the protocol', 'Via', 'SIP/2.0/UDP x', 'bad_field'],
  ])('a call with %s in its headers is not begun', (_what, name, value, code) => {
    const pair = new Pair()
    expect(() => pair.call({ headers: [[name, value]] })).toThrow(expect.objectContaining({ code }))
    pair.time.advance(100)
    expect(pair.trace).toEqual([])
    expect(pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
  })
})
