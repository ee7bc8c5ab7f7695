import { describe, expect, it } from 'vitest'
import { type CaseVerdict, caseVerdict, changeOf, type JudgedCase, runSummary, runVerdict } from './verdicts.ts'

const WORDS = { p: 'passed', f: 'failed', e: 'errored' } as const
const verdictsOf = (letters: string) => [...letters].map(letter => WORDS[letter as keyof typeof WORDS])
const judged = (verdict: CaseVerdict, over: Partial<JudgedCase> = {}): JudgedCase => ({
  blocking: true,
  verdict,
  flaky: false,
  change: null,
  ...over,
})

describe('the verdict of a case', () => {
  it.each([
    ['ppp', 'passed', false, 'passed'],
    ['ppf', 'passed', true, 'failed'],
    ['pff', 'failed', true, 'failed'],
    ['pf', 'failed', true, 'failed'],
    ['fff', 'failed', false, 'failed'],
    ['ppe', 'passed', false, 'errored'],
    ['pee', 'errored', false, 'errored'],
    ['pfe', 'errored', true, 'failed'],
    ['ffe', 'failed', false, 'failed'],
    ['eee', 'errored', false, 'errored'],
  ] as const)('trials %s: by majority %s, flaky %s; by all %s', (letters, majority, flaky, all) => {
    expect(caseVerdict(verdictsOf(letters), 'majority')).toEqual({ verdict: majority, flaky })
    expect(caseVerdict(verdictsOf(letters), 'all')).toEqual({ verdict: all, flaky })
  })

  it.each([
    [undefined, 'passed', 'new'],
    ['passed', 'passed', 'same'],
    ['passed', 'failed', 'regressed'],
    ['passed', 'invalid', 'regressed'],
    ['failed', 'passed', 'fixed'],
    ['failed', 'errored', 'same'],
  ] as const)('from %s to %s it is %s', (before, now, change) => {
    expect(changeOf(before, now)).toBe(change)
  })
})

describe('the verdict of a test run', () => {
  it('an errored blocking case outweighs a failed one, and cases that do not block count for nothing', () => {
    expect(runVerdict([judged('passed'), judged('failed', { blocking: false })])).toBe('passed')
    expect(runVerdict([judged('passed'), judged('failed')])).toBe('failed')
    expect(runVerdict([judged('passed'), judged('invalid')])).toBe('failed')
    expect(runVerdict([judged('failed'), judged('errored')])).toBe('errored')
  })

  it('the summary counts cases by verdict and change', () => {
    const cases = [
      judged('passed', { flaky: true, change: 'fixed' }),
      judged('passed', { change: 'same' }),
      judged('failed', { flaky: true, change: 'regressed' }),
      judged('errored'),
      judged('invalid'),
    ]
    expect(runSummary(cases, { trials: 9, guard_events: 2 })).toEqual({
      cases: 5,
      passed: 2,
      flaky_passed: 1,
      failed: 1,
      errored: 1,
      invalid: 1,
      trials: 9,
      regressed: 1,
      fixed: 1,
      guard_events: 2,
    })
  })
})
