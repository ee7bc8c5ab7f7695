import { modelIdentity, modelRef, text, uri } from '@parley/nodes'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { draftEdit } from '../drafts/draft-edit.ts'
import { agentId, uuid } from '../values/names.ts'
import { instant } from '../values/time.ts'
import { jsonSchema } from './json-schema.ts'

describe('a JSON Schema', () => {
  it.each([
    ['text', text(1, 5), { type: 'string', minLength: 1, maxLength: 5 }],
    ['text without a bound', modelIdentity.shape.provider, { type: 'string', minLength: 1, pattern: '\\S' }],
    ['an id', agentId, { type: 'string', minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]*$' }],
    ['a URI', uri(99), { type: 'string', format: 'uri', maxLength: 99 }],
    ['a UUID', uuid, { type: 'string', format: 'uuid' }],
    ['a time', instant, { type: 'string', format: 'date-time', maxLength: 64 }],
    ['an integer', z.int().min(1), { type: 'integer', minimum: 1 }],
  ])('the JSON Schema of %s declares its bounds', (_, schema, expected) =>
    expect(jsonSchema(schema, 'input')).toEqual(expected),
  )

  it('named schemas inside a schema are references; the schema itself is inlined', () => {
    const { $defs, ...own } = jsonSchema(modelRef, 'input')
    expect(own).toMatchObject({ type: 'object', properties: { model: { $ref: '#/$defs/ModelIdentity' } } })
    expect(Object.keys($defs as object).sort()).toEqual(['ModelCredential', 'ModelIdentity'])
  })

  it('the JSON Schema of draft edits has one variant for each edit type', () => {
    const { oneOf } = jsonSchema(draftEdit, 'input') as { oneOf: unknown[] }
    expect(oneOf).toHaveLength(22)
  })
})
