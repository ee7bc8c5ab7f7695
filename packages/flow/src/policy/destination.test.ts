import fc from 'fast-check'
import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max'
import { describe, expect, it } from 'vitest'
import { type DestinationRules, judgeDestination } from './destination.ts'

const everywhere: DestinationRules = { allowedCountries: getCountries(), mayDial: true }

function allows(destination: string, rules: DestinationRules = everywhere): boolean {
  return judgeDestination(destination, rules).decision === 'allow'
}

describe('the destination policy', () => {
  it('an ordinary number in an allowed country is allowed, and the decision names the policy version', () => {
    expect(judgeDestination('+14155552671', { allowedCountries: ['US'], mayDial: true })).toEqual({
      decision: 'allow',
      reason: null,
      policy_version: '1',
    })
  })

  it.each([
    ['+442079460958', 'GB', 'fixed line'],
    ['+34612345678', 'ES', 'mobile'],
    ['+493012345678', 'DE', 'fixed line'],
    ['+5491123456789', 'AR', 'mobile with its 9'],
    ['+390112345678', 'IT', 'fixed line with its 0'],
    ['+443001234567', 'GB', 'a business number at local rate'],
    ['+448001111111', 'GB', 'toll-free'],
    ['+6834000', 'NU', 'a country whose numbers have four digits'],
  ])('%s (%s, %s) is allowed when its country is allowed and denied otherwise', (number, country) => {
    expect(allows(number, { allowedCountries: [country], mayDial: true })).toBe(true)
    const others = getCountries().filter(other => other !== country)
    expect(judgeDestination(number, { allowedCountries: others, mayDial: true })).toEqual({
      decision: 'deny',
      reason: 'destination_not_allowed',
      policy_version: '1',
    })
  })

  it('without a country list, calls may go to the countries of the own numbers', () => {
    const rules: DestinationRules = {
      allowedCountries: null,
      ownNumbers: ['+442079460000', '+12025550100', '+8816000', 'nonsense'],
      mayDial: true,
    }
    expect(allows('+447400123456', rules)).toBe(true)
    expect(allows('+14155552671', rules)).toBe(true)
    // Canada and Jersey share calling codes with them, and are countries of their own.
    expect(allows('+16135550123', rules)).toBe(false)
    expect(allows('+441534960000', rules)).toBe(false)
    expect(allows('+493012345678', rules)).toBe(false)
    expect(allows('+881612345678', rules)).toBe(false)
    expect(allows('+14155552671', { allowedCountries: null, mayDial: true })).toBe(false)
    // What is set wins.
    expect(allows('+14155552671', { ...rules, allowedCountries: ['DE'] })).toBe(false)
  })

  it('country codes are accepted in upper and lower case', () => {
    expect(allows('+14155552671', { allowedCountries: ['us'], mayDial: true })).toBe(true)
  })

  it('an empty country list denies every destination', () => {
    expect(allows('+14155552671', { allowedCountries: [], mayDial: true })).toBe(false)
  })

  it('a run without permission to dial is denied every destination', () => {
    expect(judgeDestination('+14155552671', { allowedCountries: ['US'], mayDial: false })).toEqual({
      decision: 'deny',
      reason: 'key_cannot_dial',
      policy_version: '1',
    })
  })
})

describe('countries behind +1, +7 and +44', () => {
  it.each([
    ['+18765551234', 'JM'],
    ['+18095551234', 'DO'],
    ['+12687251234', 'AG'],
    ['+17875551234', 'PR'],
    ['+16715551234', 'GU'],
    ['+14165551234', 'CA'],
    ['+77012345678', 'KZ'],
    ['+447624123456', 'IM'],
    ['+441534123456', 'JE'],
  ])('%s belongs to %s and to no other country with the same calling code', (number, country) => {
    expect(allows(number, { allowedCountries: ['US', 'GB', 'RU'], mayDial: true })).toBe(false)
    expect(allows(number, { allowedCountries: [country], mayDial: true })).toBe(true)
  })

  it('+1 toll-free numbers count as numbers of the United States and of Canada', () => {
    expect(allows('+18005551234', { allowedCountries: ['CA'], mayDial: true })).toBe(true)
    expect(allows('+18005551234', { allowedCountries: ['US'], mayDial: true })).toBe(true)
    expect(allows('+18005551234', { allowedCountries: ['JM'], mayDial: true })).toBe(false)
  })
})

describe('premium-rate, satellite and other expensive numbers', () => {
  it.each([
    ['+19005551234', 'premium rate'],
    ['+449098790000', 'premium rate'],
    ['+448712345678', 'premium rate'],
    ['+34807123456', 'premium rate'],
    ['+34902123456', 'shared cost'],
    ['+447012345678', 'personal number'],
    ['+447640123456', 'pager'],
    ['+870773123456', 'Inmarsat'],
    ['+88213300000', 'international network'],
    ['+881612345678', 'Iridium'],
    ['+88312345678', 'international network'],
    ['+979123456789', 'international premium rate'],
    ['+80812345678', 'international shared cost'],
    ['+80012345678', 'international freephone'],
    ['+878101234567890', 'universal personal number'],
    ['+8881234567', 'disaster relief'],
  ])('the expensive number %s (%s) is denied even when every country is allowed', number => {
    expect(allows(number)).toBe(false)
  })

  it.each(['+870773123456', '+19005551234', '+34902123456'])(
    'the expensive number %s is allowed by a prefix in the allow list',
    number => {
      const rules = { allowedCountries: [], allowPrefixes: [number.slice(0, 5)], mayDial: true }
      expect(allows(number, rules)).toBe(true)
      expect(allows(number, { ...rules, mayDial: false })).toBe(false)
      expect(allows('+14155552671', rules)).toBe(false)
    },
  )

  it.each(['', '+', '1', '+1 900', '+0', '++1', '^', '+1x'])(
    'the invalid prefix %j in the allow list allows nothing',
    prefix => {
      expect(allows('+19005551234', { allowedCountries: [], allowPrefixes: [prefix], mayDial: true })).toBe(false)
    },
  )
})

describe('emergency and short codes', () => {
  const codes =
    '000 100 101 102 108 110 111 112 113 114 115 117 118 119 120 122 123 133 144 155 190 191 192 193 911 912 999'
  const prefixes = Array.from({ length: 9 }, (_, digit) => `+${digit + 1}`)

  it('emergency and short codes are denied behind every calling code, whatever is allowed', () => {
    const callingCodes = new Set(getCountries().map(country => getCountryCallingCode(country)))
    expect(callingCodes.size).toBeGreaterThan(200)
    for (const callingCode of callingCodes)
      for (const code of codes.split(' '))
        expect([
          `+${callingCode}${code}`,
          allows(`+${callingCode}${code}`, { ...everywhere, allowPrefixes: prefixes }),
        ]).toEqual([`+${callingCode}${code}`, false])
  })

  it.each([
    '911',
    '112',
    '+911',
    '+112',
    '+1911',
    '+19110000000',
    '+1411',
    '+4499',
    '+44116123',
    '+49116117',
    '+33116000',
    '+1',
    '+',
  ])('the emergency or short code %s is denied', number => {
    expect(allows(number, { ...everywhere, allowPrefixes: prefixes })).toBe(false)
  })
})

describe('malformed destinations', () => {
  it.each([
    ['14155552671', 'no plus'],
    ['0014155552671', 'a dialling prefix'],
    ['01114155552671', 'a dialling prefix'],
    ['+1 415 555 2671', 'spaces'],
    ['+1-415-555-2671', 'hyphens'],
    ['+1(415)5552671', 'brackets'],
    [' +14155552671', 'a space before'],
    ['+14155552671\n', 'a line end after'],
    ['+14155552671\r\nRefer-To: <sip:x@y>', 'a header'],
    ['+14155552671\0', 'a NUL'],
    ['tel:+14155552671', 'a tel URI'],
    ['sip:+14155552671@example.com', 'a SIP URI'],
    ['+14155552671@example.com', 'a host'],
    ['+14155552671;ext=911', 'an extension'],
    ['+14155552671 x911', 'an extension'],
    ['+14155552671,,911', 'pauses'],
    ['+14155552671w911', 'pauses'],
    ['+1415555CALL', 'letters'],
    ['\uff0b14155552671', 'a wide plus'],
    ['+\uff11\uff14\uff11\uff15\uff15\uff15\uff15\uff12\uff16\uff17\uff11', 'wide digits'],
    ['+١٤١٥٥٥٥٢٦٧١', 'Arabic digits'],
    ['+1415555\u200b2671', 'a zero-width space'],
    ['\u202a+14155552671\u202c', 'direction marks'],
    ['++14155552671', 'two pluses'],
    ['+14155552671+19005551234', 'two numbers'],
    ['+1415555267', 'a digit short'],
    ['+141555526711', 'a digit long'],
    [`+1${'4'.repeat(300)}`, 'endless'],
    ['+0014155552671', 'zeros'],
    ['+4402079460958', 'a trunk prefix inside'],
    ['+5401115234567', 'a number that is written otherwise abroad'],
    ['+99912345678', 'a calling code that nobody has'],
    ['', 'nothing'],
    ['__proto__', 'a word'],
  ])('the malformed destination %j (%s) is denied', destination => {
    expect(judgeDestination(destination, everywhere)).toEqual({
      decision: 'deny',
      reason: 'destination_not_allowed',
      policy_version: '1',
    })
  })

  it('every allowed destination is a plain E.164 number', () => {
    const piece = fc.constantFrom(
      '+',
      '1',
      '44',
      '415',
      '5552671',
      '2079460958',
      ' ',
      ';ext=',
      '\uff11',
      'sip:',
      '@',
      '9',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), pieces => {
        const destination = pieces.join('')
        return !allows(destination) || /^\+[1-9]\d{3,14}$/.test(destination)
      }),
      { numRuns: 2000 },
    )
  })
})
