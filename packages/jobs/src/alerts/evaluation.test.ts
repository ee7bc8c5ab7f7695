import type { EvaluatedRule } from '@parley/store'
import { describe, expect, it } from 'vitest'
import { decimalUnits, fractionOf } from './decimals.ts'
import { evaluate, type Measured, ruleFault } from './evaluation.ts'

const SCOPE = { owner_id: 'o', environment: 'production', tenant_id: 't' }
const WINDOW = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' }

const rule = (changes: Partial<EvaluatedRule> = {}): EvaluatedRule => ({
  alert_id: 'a',
  revision: 1,
  metric: 'call_error_rate_24h',
  threshold: '0.05',
  destination_kind: 'chat',
  destination_revision: 'r',
  is_readable: true,
  armed: true,
  ...changes,
})

const rate = (observation_count: number, failed_count: number, unknown_count = 0): Measured => ({
  metric: 'call_error_rate_24h',
  window: WINDOW,
  rate: { observation_count, failed_count, unknown_count },
})

const spend = (changes: object): Measured => ({
  metric: 'spend_usd_per_hour',
  window: WINDOW,
  spend: {
    as_of: WINDOW.to,
    snapshot: '1:1:',
    has_rate_card: true,
    amount: '12.5',
    observation_count: 2,
    unpriced_count: 0,
    sha256: 'f'.repeat(64),
    ...changes,
  },
})

describe('the evaluation of an alert rule', () => {
  it.each([
    ['0.05', 20, 1, '0.05', 'at_or_below'],
    ['0.05', 19, 1, '0.052631578947', 'above'],
    ['0.333333333333', 3, 1, '0.333333333333', 'at_or_below'],
    ['0.333333333332', 3, 1, '0.333333333333', 'above'],
    ['1', 5, 5, '1', 'at_or_below'],
    ['0', 5, 0, '0', 'at_or_below'],
  ])('with threshold %s, %i calls of which %i failed have the value %s', (threshold, calls, failed, value, verdict) => {
    const { evaluation, verdict: found } = evaluate(rule({ threshold }), rate(calls, failed), SCOPE)
    expect(evaluation).toMatchObject({
      status: 'available',
      reason: null,
      value,
      window: WINDOW,
      evaluated_at: WINDOW.to,
    })
    expect(found).toBe(verdict)
  })

  it('live calls are left out of a rate, until they outnumber the settled ones', () => {
    expect(evaluate(rule(), rate(10, 1, 10), SCOPE).evaluation).toMatchObject({ value: '0.1' })
    const { evaluation, verdict } = evaluate(rule(), rate(10, 1, 11), SCOPE)
    expect(evaluation).toMatchObject({ status: 'unavailable', reason: 'incomplete_coverage', value: null })
    expect(evaluation.evidence).toMatchObject({ observation_count: 10, failed_count: 1, unknown_count: 11 })
    expect(verdict).toBe('none')
  })

  it('nothing measured is no value, and neither fires nor recovers', () => {
    for (const measured of [
      rate(0, 0),
      spend({ amount: null, observation_count: 0 }),
      { metric: 'p95_latency_ms_1h', window: WINDOW, latency: { observation_count: 0, p95: null } } as const,
    ]) {
      const { evaluation, verdict } = evaluate(rule(), measured, SCOPE)
      expect(evaluation).toMatchObject({ status: 'unavailable', reason: 'no_observations', value: null })
      expect(verdict).toBe('none')
    }
  })

  it('spend has no value without prices, or while an ended run has none', () => {
    const reasonOf = (changes: object) => evaluate(rule({ threshold: '1' }), spend(changes), SCOPE).evaluation.reason
    expect(reasonOf({ has_rate_card: false, amount: null })).toBe('metric_unavailable')
    expect(reasonOf({ unpriced_count: 1 })).toBe('incomplete_usage')
    expect(reasonOf({})).toBeNull()
  })

  it('a rule that cannot be evaluated names its first fault', () => {
    expect(ruleFault(rule())).toBeNull()
    expect(ruleFault(rule({ threshold: '-1' }))).toBe('invalid_rule')
    expect(ruleFault(rule({ threshold: '1e3', metric: 'moon_phase' }))).toBe('invalid_rule')
    expect(ruleFault(rule({ is_readable: false }))).toBe('invalid_rule')
    expect(ruleFault(rule({ metric: 'moon_phase', destination_kind: 'pigeon' }))).toBe('unsupported_metric')
    expect(ruleFault(rule({ destination_kind: 'pigeon', destination_revision: null }))).toBe('unsupported_destination')
    expect(ruleFault(rule({ destination_revision: null }))).toBe('destination_unavailable')
  })
})

describe('decimals', () => {
  it('decimals are compared in units of 10^-12, however long they are', () => {
    expect(decimalUnits('0.1')).toBe(100_000_000_000n)
    expect(decimalUnits('90071992547409930.000000000001')).toBe(90071992547409930000000000001n)
    for (const text of ['', '.5', '1.', '01', '-1', '1e3', '0.1234567890123'])
      expect(decimalUnits(text)).toBeUndefined()
  })

  it('a fraction is truncated, never rounded up', () => {
    expect(fractionOf(2, 3)).toBe('0.666666666666')
    expect(fractionOf(1, 4)).toBe('0.25')
    expect(fractionOf(7, 7)).toBe('1')
    expect(fractionOf(0, 9)).toBe('0')
  })
})
