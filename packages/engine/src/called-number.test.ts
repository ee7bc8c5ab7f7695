import { parseNameAddr, parseUri, type SipRequest } from '@parley/leg'
import { describe, expect, it } from 'vitest'
import { calledNumbers, e164Digits, e164Numbers } from './called-number.ts'

function invite(uri: string, to: string, party?: string): SipRequest {
  const headers = { get: (name: string) => (name === 'P-Called-Party-ID' ? party : undefined) }
  return { uri: parseUri(uri), to: parseNameAddr(to), headers } as unknown as SipRequest
}

describe('the called number', () => {
  it.each([
    ['the user of the Request-URI', 'sip:+15550001111@h', '<sip:x@h>', undefined, '15550001111'],
    ['the number of a tel Request-URI', 'tel:+1-555-000-1111;phone-context=x', '<sip:x@h>', undefined, '15550001111'],
    [
      'the user of the Request-URI without its parameters',
      'sip:+15550001111;npdi=yes@h',
      '<sip:x@h>',
      undefined,
      '15550001111',
    ],
    [
      'the user of To where the Request-URI has the token',
      'sip:token@h',
      '<sip:0015550002222@h>',
      undefined,
      '15550002222',
    ],
    [
      'the user of P-Called-Party-ID where neither Request-URI nor To has a number',
      'sip:token@h',
      '<sip:x@h>',
      '<sip:15550003333@h>',
      '15550003333',
    ],
    ['unknown where no header has a number', 'sip:token@h', '<sip:x@h>', undefined, null],
    ['unknown where P-Called-Party-ID cannot be parsed', 'sip:token@h', '<sip:x@h>', '<<<', null],
  ])('the called number is %s', (_what, uri, to, party, number) => {
    expect(calledNumbers(invite(uri, to, party), null)).toEqual(number === null ? [] : [`+${number}`])
  })

  it('a number in any notation is reduced to its E.164 digits', () => {
    for (const written of ['+15550001111', '15550001111', '0015550001111', '+1 (555) 000-1111'])
      expect(e164Digits(written)).toBe('15550001111')
    for (const written of ['', '911', '+0123456', 'abc', '+1555000111122223333']) expect(e164Digits(written)).toBeNull()
  })
})

it('a number written as it is dialled in the trunk’s country is read as E.164', () => {
  expect(e164Numbers('030 1234567', 'DE')).toEqual(['+49301234567'])
  expect(e164Numbers('2025550142', 'US')).toEqual(['+2025550142', '+12025550142'])
  expect(e164Numbers('+442071234567', 'US')).toEqual(['+442071234567'])
  expect(e164Numbers('00442071234567', 'DE')).toEqual(['+442071234567'])
  expect(e164Numbers('030 1234567', null)).toEqual([])
  expect(e164Numbers('token', 'DE')).toEqual([])
})

it('the format of a trunk decides how numbers without "+" are read', () => {
  expect(e164Numbers('2025550142', 'US', { format: 'national' })).toEqual(['+12025550142'])
  expect(e164Numbers('2025550142', 'US', { format: 'e164' })).toEqual(['+2025550142'])
  expect(e164Numbers('4930123456', 'DE', { format: 'e164' })).toEqual(['+4930123456'])
  for (const format of ['any', 'e164', 'national'] as const)
    expect(e164Numbers('+4930123456', 'US', { format })).toEqual(['+4930123456'])
})

it('the prefix of a trunk is removed from numbers that begin with it', () => {
  expect(e164Numbers('94930123456', 'DE', { prefix: '9', format: 'e164' })).toEqual(['+4930123456'])
  expect(e164Numbers('+4930123456', 'DE', { prefix: '9' })).toEqual(['+4930123456'])
})
