import { describe, expect, it } from 'vitest'
import { allHold, compares, matchesPattern, patternFault } from './json-conditions.ts'

const ARGS = { customer: { name: 'Ada Byron', tags: ['new', 'vip'] }, guests: 4, note: '12' }
const holds = (path: string, op: string, value?: unknown) =>
  allHold([{ path, op, ...(value !== undefined && { value }) } as never], ARGS)

describe('a condition on the arguments of an action', () => {
  it.each([
    ['customer/name', 'equals', 'Ada Byron', 'Ada'],
    ['customer/tags/1', 'equals', 'vip', 'new'],
    ['customer', 'equals', { tags: ['new', 'vip'], name: 'Ada Byron' }, { name: 'Ada Byron' }],
    ['guests', 'one_of', [3, 4], [3, 5]],
    ['customer/name', 'contains', 'ada', 'bea'],
    ['customer/name', 'regex', '^ada\\b', '^byron'],
    ['guests', 'number_range', { min: 4, max: 4 }, { min: 5 }],
    ['note', 'number_range', { max: 12 }, { max: 11 }],
    ['', 'contains', 'byron', 'lovelace'],
  ])('%s %s %o', (path, op, good, bad) => {
    expect(holds(path, op, good)).toBe(true)
    expect(holds(path, op, bad)).toBe(false)
  })

  it('a member exists or is absent', () => {
    expect(holds('customer/name', 'exists')).toBe(true)
    expect(holds('customer/age', 'exists')).toBe(false)
    expect(holds('customer/age', 'absent')).toBe(true)
    expect(holds('guests', 'absent')).toBe(false)
    expect(holds('customer/constructor', 'absent')).toBe(true)
  })

  it('a member that is not there fulfils nothing but absent', () => {
    for (const [op, value] of [
      ['equals', null],
      ['one_of', [null]],
      ['contains', ''],
      ['regex', '.*'],
      ['number_range', {}],
    ] as const)
      expect(compares({ op, value }, undefined)).toBe(false)
  })

  it('all conditions on the arguments of an action must hold', () => {
    const name = { path: 'customer/name', op: 'exists' } as const
    expect(allHold([name, { path: 'guests', op: 'equals', value: 4 }], ARGS)).toBe(true)
    expect(allHold([name, { path: 'guests', op: 'equals', value: 5 }], ARGS)).toBe(false)
  })

  it('a pattern runs in linear time', () => {
    expect(matchesPattern(`${'a'.repeat(50_000)}!`, '(a+)+$')).toBe(false)
    expect(patternFault('(a')).not.toBeNull()
    expect(patternFault('a|b')).toBeNull()
  })
})
