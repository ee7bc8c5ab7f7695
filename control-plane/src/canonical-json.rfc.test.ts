import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

describe('RFC 8785', () => {
  it('3.2.2: literals, numbers and strings', () =>
    expect(
      canonicalJson({
        numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
        string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
        literals: [null, true, false],
      }),
    ).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ))

  it('3.2.3: names in the order of their code units', () =>
    expect(
      Object.keys(
        JSON.parse(
          canonicalJson({
            '\u20ac': 'Euro Sign',
            '\r': 'Carriage Return',
            '\ufb33': 'Hebrew Letter Dalet With Dagesh',
            '\ud83d\ude00': 'Emoji: Grinning Face',
            '\u0080': 'Control',
            '\u00f6': 'Latin Small Letter O With Diaeresis',
            a: 1,
          }),
        ),
      ),
    ).toEqual(['\r', 'a', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']))

  it('is the same for whatever order was sent', () =>
    expect(canonicalJson({ b: [{ d: 1, c: -0 }], a: {} })).toBe(canonicalJson({ a: {}, b: [{ c: 0, d: 1 }] })))

  it('leaves out what is undefined', () => expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}'))
})
