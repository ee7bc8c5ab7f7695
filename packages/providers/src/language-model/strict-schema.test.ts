import { describe, expect, it } from 'vitest'
import { closedSchema, optionalProperties, requiringSchema, withoutNulls } from './strict-schema.ts'

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

  it('in schemas of strict tools whose properties must all be required, optional ones may be null', () => {
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
    ['a list of anything', { type: 'object', properties: { a: { type: 'array' } } }],
    ['a value of any type', { type: 'object', properties: { a: { description: 'anything' } } }],
    ['a nullable open object', { type: 'object', properties: { a: { type: ['object', 'null'] } } }],
    ['a required property that it does not describe', { type: 'object', properties: {}, required: ['a'] }],
    ['a length', { type: 'object', properties: { a: { type: 'string', maxLength: 3 } } }],
    ['an unknown format', { type: 'object', properties: { a: { type: 'string', format: 'phone' } } }],
    ['an alternative at its top', { type: 'object', properties: {}, anyOf: [{ type: 'object', properties: {} }] }],
    ['a list at its top', { type: 'array', items: { type: 'string' } }],
    ['an exclusion', { type: 'object', properties: { a: { not: { type: 'string' } } } }],
  ])('a schema with %s cannot be strict', (_, schema) => {
    expect(closedSchema(schema)).toBeNull()
    expect(requiringSchema(schema)).toBeNull()
  })

  it.each([
    ['a range of numbers', { type: 'number', minimum: 1, maximum: 8 }, { closed: false, requiring: true }],
    ['a pattern', { type: 'string', pattern: '^[0-9]+$' }, { closed: false, requiring: true }],
    ['a default', { type: 'string', default: 'x' }, { closed: true, requiring: false }],
    ['an address of a page', { type: 'string', format: 'uri' }, { closed: true, requiring: false }],
    [
      'a list of two and more',
      { type: 'array', items: { type: 'string' }, minItems: 2 },
      { closed: false, requiring: true },
    ],
  ])('%s makes a tool strict only at services that accept it', (_, property, { closed, requiring }) => {
    const schema = { type: 'object', properties: { a: property }, required: ['a'] }
    expect(closedSchema(schema) !== null).toBe(closed)
    expect(requiringSchema(schema) !== null).toBe(requiring)
  })

  it('every object of a strict schema is closed, and for OpenAI every property is required', () => {
    const objects = (schema: unknown): Record<string, unknown>[] => {
      if (typeof schema !== 'object' || schema === null) return []
      const inner = Object.values(schema).flatMap(objects)
      return 'additionalProperties' in schema ? [schema as Record<string, unknown>, ...inner] : inner
    }
    const optional = { type: 'object', properties: { when: BOOKING, either: { anyOf: [BOOKING, { type: 'null' }] } } }
    for (const schema of [BOOKING, optional]) {
      const found = objects(requiringSchema(schema))
      expect(found.length).toBeGreaterThan(1)
      expect(found.every(one => one.additionalProperties === false)).toBe(true)
      expect(found.map(one => one.required)).toEqual(found.map(one => Object.keys(one.properties as object)))
      expect(objects(closedSchema(schema)).length).toBe(found.length)
    }
  })

  it('optional properties are counted at every depth', () => {
    expect(optionalProperties(closedSchema(BOOKING))).toBe(3)
    expect(optionalProperties(requiringSchema(BOOKING))).toBe(0)
  })
})
