import { describe, expect, it } from 'vitest'
import { HeaderList } from '../message/header-list.ts'
import { forwardableHeaders } from './custom-headers.ts'
import { Pair } from './testing/pair.ts'

describe('custom headers', () => {
  it('only X- headers on the allow list are forwarded, in any case', () => {
    const headers = new HeaderList([
      ['X-Account', '17'],
      ['X-Secret', 'no'],
      ['P-Asserted-Identity', '<sip:x@y>'],
      ['X-Account', '18'],
    ])
    expect(forwardableHeaders(headers, ['x-ACCOUNT', 'P-Asserted-Identity', 'X-Missing'])).toEqual([
      ['X-Account', '17'],
      ['X-Account', '18'],
    ])
    expect(forwardableHeaders(headers, [])).toEqual([])
  })

  it('a header longer than 1024 bytes in UTF-8 or with control characters is not forwarded', () => {
    const pass = (value: string) => forwardableHeaders(new HeaderList([['X-A', value]]), ['X-A']).length
    expect([pass('v'.repeat(1019)), pass('v'.repeat(1020)), pass('ü'.repeat(509)), pass('ü'.repeat(510))]).toEqual([
      1, 0, 1, 0,
    ])
    expect(['a\r\nVia: x', 'a\nb', 'a\rb', 'a\0b', 'a\x7f'].map(pass)).toEqual([0, 0, 0, 0, 0])
    expect(pass('tab\tand "quotes"; are fine')).toBe(1)
  })

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
    expect(forwardableHeaders(invite.headers, ['X-Ticket'])).toEqual([['X-Ticket', '4711']])
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
