import { equation } from '@parley/nodes'
import { describe, expect, it } from 'vitest'
import { equationHolds, holds } from './equation.ts'

const values: Record<string, string> = {
  n: '10',
  word: 'Blue',
  yes: 'True',
  code: '007',
  blank: '',
  long: '9007199254740993',
  me: '{{n}}',
}
const lookup = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined)

describe('an equation', () => {
  it.each([
    ['{{n}}', '==', '10.0', true],
    ['n', '==', '10', true],
    [' {{ n }} ', '==', '{{n}}', true],
    ['n', '!=', '10.0', false],
    ['code', '==', '7', false],
    ['long', '==', '9007199254740992', false],
    ['yes', '==', 'true', true],
    ['word', '==', 'blue', false],
    ['n', '>', '9', true],
    ['n', '>', '9.99', true],
    ['n', '>=', '10', true],
    ['n', '<', '10', false],
    ['n', '<=', '1e9', false],
    ['word', '<', '5', false],
    ['word', '>', '5', false],
    ['word', 'contains', 'lu', true],
    ['word', 'not_contains', 'lu', false],
    ['word', 'exists', undefined, true],
    ['blank', 'exists', undefined, true],
    ['nothing', 'exists', undefined, false],
    ['{{nothing}}', 'not_exist', undefined, true],
    ['nothing', '==', '', true],
    ['nothing', '>', '-1', false],
    ['constructor', 'exists', undefined, false],
    ['{{word}}-{{n}}', '==', 'Blue-10', true],
    ['me', '==', '10', false],
  ] as const)('the equation %s %s %s is %s', (left, operator, right, expected) => {
    expect(equationHolds({ left, operator, ...(right !== undefined && { right }) }, lookup)).toBe(expected)
  })

  it('several equations are joined by && or ||', () => {
    const equations = [
      { left: 'n', operator: '==' as const, right: '10' },
      { left: 'n', operator: '==' as const, right: '11' },
    ]
    expect(holds({ type: 'equation', operator: '&&', equations }, lookup)).toBe(false)
    expect(holds({ type: 'equation', operator: '||', equations }, lookup)).toBe(true)
  })

  it('every operator of the export format is evaluated', () => {
    for (const operator of equation.shape.operator.options)
      expect(typeof equationHolds({ left: 'n', operator, right: '1' }, lookup)).toBe('boolean')
  })
})
