import type { Equation, EquationCondition } from '../plan/edge.ts'
import { references, render } from './template.ts'

type Lookup = (name: string) => string | undefined

/** A decimal number that stands for nothing else: `007` and long digit strings are codes, compared as text. */
const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/
const NUMBER = /^[-+]?\d{1,30}(\.\d{1,30})?$/

/** Whether the condition holds: all equations with `&&`, any with `||`. */
export function holds(condition: EquationCondition, lookup: Lookup): boolean {
  const test = (equation: Equation) => equationHolds(equation, lookup)
  return condition.operator === '||' ? condition.equations.some(test) : condition.equations.every(test)
}

/**
 * Values are strings. `==` and `!=` compare numbers as numbers, true and false in any case, all else as it stands; `<` and
 * its like are false unless both sides are numbers; `contains` looks for the text as it stands; a variable exists when it has been set.
 */
export function equationHolds(equation: Equation, lookup: Lookup): boolean {
  const found = leftOf(equation.left, lookup)
  const left = found ?? ''
  const right = render(equation.right ?? '', lookup)
  switch (equation.operator) {
    case 'exists':
      return found !== undefined
    case 'not_exist':
      return found === undefined
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

/** The variable of `{{x}}` or bare `x`, undefined where it is not set; or a text with variables in it. */
function leftOf(left: string, lookup: Lookup): string | undefined {
  const name = variableOf(left)
  return name === undefined ? render(left, lookup) : lookup(name)
}

/** The name that a left side is about; undefined when it is a longer text. */
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
