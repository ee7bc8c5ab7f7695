import type { SipRequest } from '@parley/leg'
import { HeaderList } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { headerVariables, variableHeaders } from './custom-headers.ts'

const invite = (...entries: (readonly [string, string])[]) => ({ headers: new HeaderList(entries) }) as SipRequest

describe('headers of an inbound INVITE', () => {
  it('an allowed header becomes a variable of the same name in lower case, in any spelling', () => {
    const request = invite(['X-Foo', 'one'], ['X-Bar', 'two'], ['User-To-User', 'ab;encoding=hex'])
    expect(headerVariables(request, ['X-FOO', 'User-to-User', 'X-Missing'])).toEqual({
      variables: { 'x-foo': 'one', 'user-to-user': 'ab;encoding=hex' },
      refused: [],
    })
  })

  it('without a list no header becomes a variable', () => {
    expect(headerVariables(invite(['X-Foo', 'one']))).toEqual({ variables: {}, refused: [] })
  })

  it('several lines of one header are joined', () => {
    expect(headerVariables(invite(['X-Foo', 'a'], ['X-Foo', 'b']), ['X-Foo']).variables).toEqual({ 'x-foo': 'a, b' })
  })

  it('a line of more than 1,024 bytes, and one with a line break, are refused', () => {
    const long = invite(
      ['X-Foo', 'a'.repeat(1024 - 'X-Foo: '.length)],
      ['X-Bar', 'ä'.repeat(512)],
      ['X-Cut', 'a\r\nVia: b'],
    )
    const { variables, refused } = headerVariables(long, ['X-Foo', 'X-Bar', 'X-Cut'])
    expect(Object.keys(variables)).toEqual(['x-foo'])
    expect(refused).toEqual(['X-Bar', 'X-Cut'])
  })
})

describe('headers of an outbound INVITE', () => {
  it('an allowed header takes the variable of its name, and is left out where that is missing or empty', () => {
    expect(variableHeaders({ 'x-foo': 'one', 'x-empty': '', other: 'x' }, ['X-Foo', 'X-Empty', 'X-None'])).toEqual([
      ['X-Foo', 'one'],
    ])
    expect(variableHeaders({ 'x-foo': 'one' })).toEqual([])
  })

  it.each(['a\r\nRoute: <sip:evil@x>', 'a\nb', 'a\0b', 'a'.repeat(1018)])('the value %j is refused', value => {
    expect(() => variableHeaders({ 'x-foo': value }, ['X-Foo'])).toThrow('the variable x-foo cannot be sent')
  })
})
