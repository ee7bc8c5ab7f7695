import { json, text } from '@parley/nodes'
import { z } from 'zod'

/** Constructs that no engine of linear time has: backreferences and looking around. */
const NOT_LINEAR = /\\[1-9]|\\k<|\(\?(?:[=!]|<[=!])/

/** A regular expression that a linear-time engine can run (RE2 syntax); it matches anywhere, in any case. */
export const linearPattern = text(1, 256).refine(
  isLinear,
  'not a regular expression without backreferences and lookaround',
)

function isLinear(pattern: string): boolean {
  if (NOT_LINEAR.test(pattern)) return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}

export const conditionOperator = z.enum(['equals', 'one_of', 'contains', 'regex', 'exists', 'absent', 'number_range'])

type Operator = z.output<typeof conditionOperator>

/** The operator and the value that it compares with; `exists` and `absent` compare with nothing. */
interface Comparison {
  readonly op: Operator
  readonly value?: unknown
}

/** Whether the value has the form that its operator needs. */
export function fitsOperator({ op, value }: Comparison): boolean {
  switch (op) {
    case 'equals':
      return value !== undefined
    case 'one_of':
      return Array.isArray(value)
    case 'contains':
      return typeof value === 'string'
    case 'regex':
      return linearPattern.safeParse(value).success
    case 'number_range':
      return z.strictObject({ min: z.number().optional(), max: z.number().optional() }).safeParse(value).success
    case 'exists':
    case 'absent':
      return true
  }
}

export const MISFIT =
  'equals takes any JSON, one_of an array, contains a string, regex a linear-time pattern, number_range {min?, max?}'

/** One condition on a JSON value: `path` leads into it, and numbers in it index arrays. */
export const jsonCondition = z
  .strictObject({
    /** Segments separated by slashes, such as `customer/name`; empty: the whole value. */
    path: text(0, 256),
    op: conditionOperator,
    value: json.optional(),
  })
  .refine(fitsOperator, { path: ['value'], message: MISFIT })
  .meta({ id: 'JsonCondition' })

export type JsonCondition = z.output<typeof jsonCondition>
