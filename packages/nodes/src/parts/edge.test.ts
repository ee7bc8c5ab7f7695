import { describe, expect, it } from 'vitest'
import {
  type FieldCases,
  list,
  mismatches,
  nullable,
  object,
  oneOf,
  optional,
  text,
  variations,
} from '../testing/field-cases.ts'
import { nodeIdCases } from '../testing/schema-cases.ts'
import { edge } from './edge.ts'

const byPrompt = object({ type: 'prompt', prompt: 'Always' }, { prompt: text(1, 4096) })
const equation = { left: '{{n}}', operator: '>', right: '1' }
const byEquation = object(
  { type: 'equation', equations: [equation] },
  {
    operator: optional(oneOf('||', '&&')),
    equations: list(
      1,
      50,
      object(equation, {
        left: text(1, 1024),
        operator: oneOf('==', '!=', '>', '>=', '<', '<=', 'contains', 'not_contains', 'exists', 'not_exist'),
        right: optional(text(0, 1024)),
      }),
    ),
  },
)
const condition: FieldCases = {
  valid: [...byPrompt.valid, ...byEquation.valid],
  invalid: [...byPrompt.invalid, ...byEquation.invalid, { type: 'regex', prompt: 'x' }],
  optional: false,
}

describe('an edge', () => {
  it('an edge accepts its fields within their bounds and no other values', () => {
    const valid = { id: 'e', transition_condition: { type: 'prompt', prompt: 'Always' } }
    const fields = {
      id: text(1, 64),
      transition_condition: condition,
      destination_node_id: optional(nullable(nodeIdCases)),
    }
    expect(mismatches(variations(valid, fields), value => edge.safeParse(value).success)).toEqual([])
  })
})
