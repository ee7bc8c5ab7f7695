import { describe, expect, it } from 'vitest'
import { briefSchema } from './brief-schema.ts'

describe('a brief schema', () => {
  it('a brief schema leaves out what a model does not need', () => {
    expect(
      briefSchema({
        type: 'object',
        properties: {
          id: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]*$', minLength: 1, maxLength: 256 },
          to: { type: 'string', pattern: '^\\+[1-9][0-9]{6,14}$' },
          count: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
          variables: {
            type: 'object',
            default: {},
            propertyNames: { type: 'string' },
            additionalProperties: { type: 'string', maxLength: 4096 },
          },
        },
        required: ['id'],
        additionalProperties: false,
      }),
    ).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        to: { type: 'string', pattern: '^\\+[1-9][0-9]{6,14}$' },
        count: { type: 'integer', minimum: 0 },
        variables: { type: 'object', additionalProperties: { type: 'string' } },
      },
      required: ['id'],
    })
  })

  it('a brief schema writes a value that may be null as one schema', () => {
    expect(briefSchema({ anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }], default: null })).toEqual({
      type: ['integer', 'null'],
      minimum: 0,
    })
  })

  it('a brief schema keeps choices, also those that may be null', () => {
    const choice = { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] }
    expect(briefSchema(choice)).toEqual(choice)
  })

  it('a brief schema keeps properties that are named like keywords', () => {
    const named = { type: 'object', properties: { pattern: { type: 'string' }, default: { type: 'integer' } } }
    expect(briefSchema(named)).toEqual(named)
  })
})
