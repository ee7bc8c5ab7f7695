import type { TrunkDetails } from '@parley/store'
import { describe, expect, it } from 'vitest'
import { writtenCalledNumber, writtenNumber } from './trunk-numbers.ts'

const on = (details: TrunkDetails, first_number: string | null = null) => ({ details, first_number })

describe('numbers on the wire of a trunk', () => {
  it.each([
    ['e164', 'DE', '+4930123456', '+4930123456'],
    ['digits', 'DE', '+4930123456', '4930123456'],
    ['national', 'DE', '+4930123456', '030123456'],
    ['national', 'US', '+12133734253', '2133734253'],
    ['national', 'IT', '+390612345678', '0612345678'],
  ] as const)('the format %s in %s writes %s as %s', (number_format_out, country, number, written) => {
    expect(writtenNumber(number, on({ number_format_out, country }))).toBe(written)
  })

  it.each([
    ['DE', '+12133734253', '0012133734253'],
    ['US', '+4930123456', '0114930123456'],
    ['US', '+442071838750', '011442071838750'],
  ])(
    'a number of another country is dialled from %s with the international prefix: %s as %s',
    (country, number, written) => {
      expect(writtenNumber(number, on({ number_format_out: 'national', country }))).toBe(written)
    },
  )

  it('without a country set by staff the first number of the trunk decides the country', () => {
    expect(writtenNumber('+4930123456', on({ number_format_out: 'national' }, '+4989123456'))).toBe('030123456')
    expect(writtenNumber('+4930123456', on({ number_format_out: 'national' }))).toBe('+4930123456')
  })

  it('an account name is not rewritten', () => {
    expect(writtenNumber('account-7', on({ number_format_out: 'digits' }))).toBe('account-7')
  })

  it('the prefix stands before the called number only', () => {
    const trunk = on({ number_format_out: 'digits', prefix_out: '00' })
    expect(writtenCalledNumber('+4930123456', trunk)).toBe('004930123456')
    expect(writtenNumber('+4930123456', trunk)).toBe('4930123456')
  })
})
