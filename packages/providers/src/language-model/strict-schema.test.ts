import { describe, expect, it } from 'vitest'
import { closedSchema, requiringSchema, withoutNulls } from './strict-schema.ts'

const BOOKING = {
  type: 'object',
  properties: {
    day: { type: 'string', enum: ['Monday', 'Tuesday'] },
    note: { type: 'string' },
    people: { type: 'array', items: { type: 'object', properties: { age: { type: 'integer' } }, required: [] } },
  },
  required: ['day'],
}

describe('schemas of strict tools', () => {
  it('every object is closed, and optional properties stay optional', () => {
    expect(closedSchema(BOOKING)).toMatchObject({
      required: ['day'],
      additionalProperties: false,
      properties: { people: { items: { additionalProperties: false, required: [] } } },
    })
  })

  it('where all properties must be required, optional ones may be null', () => {
    expect(requiringSchema(BOOKING)).toMatchObject({
      required: ['day', 'note', 'people'],
      properties: {
        day: { type: 'string', enum: ['Monday', 'Tuesday'] },
        note: { type: ['string', 'null'] },
        people: { items: { properties: { age: { type: ['integer', 'null'] } }, required: ['age'] } },
      },
    })
  })

  it('arguments lose the nulls of optional properties, and no other', () => {
    const given = { day: null, note: null, people: [{ age: null }, { age: 3 }], other: null }
    expect(withoutNulls(BOOKING, given)).toEqual({ day: null, people: [{}, { age: 3 }], other: null })
  })

  it.each([
    ['an object of any shape', { type: 'object' }],
    ['further properties', { type: 'object', properties: {}, additionalProperties: true }],
    ['a reference', { type: 'object', properties: { a: { $ref: '#/x' } } }],
    [
      'an open object inside a list',
      { type: 'object', properties: { a: { type: 'array', items: { type: 'object' } } } },
    ],
    ['an exclusion', { type: 'object', properties: { a: { not: { type: 'string' } } } }],
  ])('a schema with %s cannot be strict', (_, schema) => {
    expect(closedSchema(schema)).toBeNull()
    expect(requiringSchema(schema)).toBeNull()
  })
})
