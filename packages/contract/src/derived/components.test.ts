import { describe, expect, it } from 'vitest'
import { Components, pascal } from './components.ts'
import type { JsonSchema } from './json-schema.ts'

const object = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: 'object', properties })
const tagged = (kind: string, more: Record<string, JsonSchema> = {}) =>
  object({ kind: { type: 'string', const: kind }, ...more })

describe('components of the OpenAPI document', () => {
  it('an object inside an object is a component named after both, also in an array', () => {
    const components = new Components()
    const point = object({ x: { type: 'number' } })
    expect(components.place(object({ at: point, route: { type: 'array', items: point } }), 'TripInput')).toEqual({
      $ref: '#/components/schemas/TripInput',
    })
    expect(Object.keys(components.all)).toEqual(['TripAtInput', 'TripInput', 'TripRouteItemInput'])
    expect(components.all.TripInput).toEqual(
      object({
        at: { $ref: '#/components/schemas/TripAtInput' },
        route: { type: 'array', items: { $ref: '#/components/schemas/TripRouteItemInput' } },
      }),
    )
  })

  it('the variants of a union are named after their tags, and the union has a discriminator', () => {
    const components = new Components()
    components.add('Act', { oneOf: [tagged('http'), tagged('end_call')] })
    expect(Object.keys(components.all)).toEqual(['Act', 'EndCallAct', 'HttpAct'])
    expect(components.all.Act).toMatchObject({
      discriminator: {
        propertyName: 'kind',
        mapping: { http: '#/components/schemas/HttpAct', end_call: '#/components/schemas/EndCallAct' },
      },
    })
  })

  it('a union inside a union becomes a component of its own, and the outer union has no discriminator', () => {
    const components = new Components()
    const inner = { oneOf: [tagged('a', { of: { const: 'x' } }), tagged('a', { of: { const: 'y' } })] }
    components.add('Edit', { oneOf: [inner, tagged('b')] })
    expect(Object.keys(components.all)).toEqual(['AEdit', 'BEdit', 'Edit', 'XAEdit', 'YAEdit'])
    expect(components.all.Edit).not.toHaveProperty('discriminator')
    expect(components.all.AEdit).toHaveProperty('discriminator')
  })

  it('equal objects share a component; another object of the same name gets a number', () => {
    const components = new Components()
    const first = components.place(object({ a: { type: 'string' } }), 'Thing')
    expect(components.place(object({ a: { type: 'string' } }), 'Thing')).toEqual(first)
    expect(components.place(object({ b: { type: 'string' } }), 'Thing')).toEqual({
      $ref: '#/components/schemas/Thing2',
    })
  })

  it('a nullable object keeps null beside its reference; a field that is always null has a type', () => {
    const components = new Components()
    const nullable = { anyOf: [object({ a: { type: 'string' } }), { type: 'null' }] }
    components.add('Box', object({ content: nullable, empty: { type: 'null' } }))
    expect(components.all.Box).toEqual(
      object({
        content: { anyOf: [{ $ref: '#/components/schemas/BoxContent' }, { type: 'null' }] },
        empty: { type: ['string', 'null'], enum: [null] },
      }),
    )
  })

  it('a default that is a list stands in the description', () => {
    const components = new Components()
    const list = { type: 'array', items: { type: 'string' }, default: [], description: 'Words.' }
    expect(components.place(list, 'Words')).toEqual({
      type: 'array',
      items: { type: 'string' },
      description: 'Words. Default: [].',
    })
  })

  it('identifiers of any spelling become names of classes', () => {
    expect(['runs.create', 'end_call', 'HTTP', 'maxLatencyMs'].map(pascal)).toEqual([
      'RunsCreate',
      'EndCall',
      'HTTP',
      'MaxLatencyMs',
    ])
  })
})
