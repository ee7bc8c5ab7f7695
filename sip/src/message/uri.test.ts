import { describe, expect, it } from 'vitest'
import { SipMessageError } from '../errors.ts'
import type { SipUri } from './message.ts'
import { parseUri, serialiseUri, uriEquals } from './uri.ts'

const read = (text: string) => {
  const uri = parseUri(text)
  if (uri === undefined) throw new Error(`not a URI: ${text}`)
  return uri
}

describe('reading URIs (RFC 3261 section 19.1.3)', () => {
  it.each([
    ['sip:alice@atlanta.com', { user: 'alice', host: 'atlanta.com', port: undefined }],
    ['sip:alice:secretword@Atlanta.COM;transport=tcp', { password: 'secretword', host: 'atlanta.com' }],
    [
      'sips:alice@atlanta.com?subject=project%20x&priority=urgent',
      {
        scheme: 'sips',
        headers: [
          ['subject', 'project x'],
          ['priority', 'urgent'],
        ],
      },
    ],
    ['sip:+1-212-555-1212:1234@gateway.com;user=phone', { user: '+1-212-555-1212', password: '1234' }],
    ['sip:alice;day=tuesday@atlanta.com', { user: 'alice;day=tuesday' }],
    ['SIP:192.0.2.4', { scheme: 'sip', user: undefined, host: '192.0.2.4' }],
    ['sip:[2001:DB8::1]:5070;lr', { host: '[2001:db8::1]', port: 5070, params: new Map([['lr', null]]) }],
    ['sip:%61lice@host_with_underscore', { user: 'alice', host: 'host_with_underscore' }],
    ['tel:+1-201-555-0123;ext=1', { scheme: 'tel', opaque: '+1-201-555-0123;ext=1' }],
  ])('the URI %s is parsed', (text, expected) => {
    expect(read(text)).toMatchObject(expected)
  })

  it.each([
    '',
    'sip',
    'sip:',
    ':alice',
    'sip:@host',
    'sip:a@',
    'sip:a b@host',
    'sip:a@ho st',
    'sip:a@[::1',
    'sip:a@[1:2]',
    'sip:a@host:',
    'sip:a@host:x',
    'sip:a@host:70000',
    'sip:a@b@c',
    'sip:a@host;',
    'sip:a@host;=x',
    'sip:a@host?',
    'sip:a@host?x',
    'sip:%zz@host',
    'sip:<a@host>',
    'sip:a@host;x="y"',
    'tel:',
    'te l:1',
    'sip:2001:db8::1',
    'sip:a@[::ffff:1.2.3.256]',
    'sip:a@[1::2::3]',
  ])('the malformed URI "%s" is refused', text => {
    expect(parseUri(text)).toBeUndefined()
  })

  it('a user part is written with its original escapes unless it was changed', () => {
    const uri = read('sip:a%3bb%2Dc@example.com') as SipUri
    expect(uri.user).toBe('a;b-c')
    expect(serialiseUri(uri)).toBe('sip:a%3bb%2Dc@example.com')
    expect(serialiseUri({ ...uri, user: 'other' })).toBe('sip:other@example.com')
    expect(serialiseUri({ ...uri, userAsWritten: 'a;b-c@evil.example?x=' })).toBe('sip:a;b-c@example.com')
  })

  it('characters that would change the meaning of the rest of the URI are escaped', () => {
    const uri: SipUri = {
      scheme: 'sip',
      user: 'a@b:c <d>',
      password: 'p@w',
      host: 'example.com',
      port: undefined,
      params: new Map([['x;y', 'a=b;c?d']]),
      headers: [['Subject', 'a&b=c\r\nRoute: <sip:evil>']],
    }
    expect(serialiseUri(uri)).toBe(
      'sip:a%40b%3Ac%20%3Cd%3E:p%40w@example.com;x%3By=a%3Db%3Bc%3Fd?Subject=a%26b%3Dc%0D%0ARoute:%20%3Csip:evil%3E',
    )
  })

  it.each<[string, Partial<SipUri>, string]>([
    ['a line break in the host', { host: 'example.com\r\nRoute: <sip:evil>' }, 'header_injection'],
    ['a host that is none', { host: 'exa mple' }, 'bad_field'],
    ['an empty host', { host: '' }, 'bad_field'],
    ['a port out of range', { port: 65536 }, 'bad_field'],
    ['an empty user', { user: '' }, 'bad_field'],
  ])('a URI with %s is not serialised', (_what, change, code) => {
    const uri = { ...(read('sip:a@example.com') as SipUri), ...change }
    expect(() => serialiseUri(uri)).toThrow(SipMessageError)
    expect(() => serialiseUri(uri)).toThrow(expect.objectContaining({ code }))
  })
})

describe('comparing URIs (RFC 3261 section 19.1.4)', () => {
  it.each([
    ['sip:%61lice@atlanta.com;transport=TCP', 'sip:alice@AtLanTa.CoM;Transport=tcp'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com;newparam=5'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com;security=on'],
    [
      'sip:biloxi.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.com',
      'sip:biloxi.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.com',
    ],
    [
      'sip:alice@atlanta.com?subject=project%20x&priority=urgent',
      'sip:alice@atlanta.com?priority=urgent&subject=project%20x',
    ],
    ['sip:a%3bb@c', 'sip:a%3Bb@c'],
  ])('%s equals %s', (left, right) => {
    expect(uriEquals(read(left), read(right))).toBe(true)
    expect(uriEquals(read(right), read(left))).toBe(true)
  })

  it.each([
    ['SIP:ALICE@AtLanTa.CoM;Transport=udp', 'sip:alice@AtLanTa.CoM;Transport=UDP'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:5060'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com;transport=udp'],
    ['sip:bob@biloxi.com', 'sip:bob@biloxi.com:6000;transport=tcp'],
    ['sip:carol@chicago.com', 'sip:carol@chicago.com?Subject=next%20meeting'],
    ['sip:bob@phone21.boxesbybob.com', 'sip:bob@192.0.2.4'],
    ['sip:carol@chicago.com;security=on', 'sip:carol@chicago.com;security=off'],
    ['sip:carol@chicago.com', 'sips:carol@chicago.com'],
    ['sip:a%3Bb@c', 'sip:a;b@c'],
    ['tel:+1', 'tel:+2'],
    ['sip:tel@c', 'tel:+1'],
  ])('%s does not equal %s', (left, right) => {
    expect(uriEquals(read(left), read(right))).toBe(false)
    expect(uriEquals(read(right), read(left))).toBe(false)
  })
})
