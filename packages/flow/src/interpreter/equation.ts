import type { Equation, EquationCondition } from '../plan/edge.ts'
import { references, render } from './template.ts'

type Lookup = (name: string) => string | undefined

/** A number in its usual form. `007` and long digit strings do not match: they are codes, compared as text. */
const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/
const NUMBER = /^[-+]?\d{1,30}(\.\d{1,30})?$/

/** Whether the condition holds: all equations with `&&`, any with `||`. */
export function holds(condition: EquationCondition, lookup: Lookup): boolean {
  const test = (equation: Equation) => equationHolds(equation, lookup)
  return condition.operator === '||' ? condition.equations.some(test) : condition.equations.every(test)
}

/**
 * Whether the equation holds. Values are strings. `==` and `!=` compare numbers as numbers, true and false in any letter
 * case, and everything else exactly. `>`, `>=`, `<` and `<=` are false unless both sides are numbers. `contains` is exact. A
 * variable exists when it has been set.
 */
export function equationHolds(equation: Equation, lookup: Lookup): boolean {
  const value = leftOf(equation.left, lookup)
  const left = value ?? ''
  const right = render(equation.right ?? '', lookup)
  switch (equation.operator) {
    case 'exists':
      return value !== undefined
    case 'not_exist':
      return value === undefined
    case '==':
      return isEqual(left, right)
    case '!=':
      return !isEqual(left, right)
    case 'contains':
      return left.includes(right)
    case 'not_contains':
      return !left.includes(right)
    case '>':
      return order(left, right, (a, b) => a > b)
    case '>=':
      return order(left, right, (a, b) => a >= b)
    case '<':
      return order(left, right, (a, b) => a < b)
    case '<=':
      return order(left, right, (a, b) => a <= b)
  }
}

/** The value of the variable `{{x}}` or bare `x`, undefined where it is not set; any other text with its variables filled in. */
function leftOf(left: string, lookup: Lookup): string | undefined {
  const name = variableOf(left)
  return name === undefined ? render(left, lookup) : lookup(name)
}

/** The name of the variable that the left side consists of; undefined when the left side is a longer text. */
export function variableOf(left: string): string | undefined {
  const trimmed = left.trim()
  if (!trimmed.includes('{{')) return trimmed
  const [name] = references(trimmed)
  return name !== undefined && trimmed.replace(/^\{\{\s*/, '').replace(/\s*\}\}$/, '') === name ? name : undefined
}

function isEqual(left: string, right: string): boolean {
  const a = left.trim()
  const b = right.trim()
  if (PLAIN_NUMBER.test(a) && PLAIN_NUMBER.test(b)) return Number(a) === Number(b)
  if (isTruthWord(a) && isTruthWord(b)) return a.toLowerCase() === b.toLowerCase()
  return a === b
}

function isTruthWord(value: string): boolean {
  return /^(true|false)$/i.test(value)
}

function order(left: string, right: string, compare: (a: number, b: number) => boolean): boolean {
  const a = left.trim()
  const b = right.trim()
  return NUMBER.test(a) && NUMBER.test(b) && compare(Number(a), Number(b))
}
