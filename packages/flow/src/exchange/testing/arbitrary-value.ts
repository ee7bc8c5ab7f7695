import { draftContent, type Json, jsonFault } from '@parley/contract'
import fc from 'fast-check'
import { z } from 'zod'
import type { DraftContent } from '../import-export.ts'

/** Strings of all the forms that drafts have; each schema takes those that it knows. */
const STRINGS = [
  'a',
  'b',
  'Node 1',
  'e~1/x',
  'x-1',
  'X-Ward',
  'UTC',
  'en',
  'de-DE',
  'parley',
  'type',
  'tool_id',
  '0',
  '',
  '#',
  '+15551234567',
  'https://example.com/a?b={{c}}',
  '$.a[0]',
  '11111111-1111-4111-8111-111111111111',
]

const json = fc
  .jsonValue({ maxDepth: 2 })
  .map(value => JSON.parse(JSON.stringify(value)) as Json)
  .filter(value => jsonFault(value) === null)

/** Any value of the schema, as far as the forms of strings go. */
export function anyValue(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const sound = (values: fc.Arbitrary<unknown>) => values.filter(value => z.safeParse(schema, value).success)
  switch (def.type) {
    case 'optional':
      return fc.option(anyValue(def.innerType), { nil: undefined })
    case 'nullable':
      return fc.option(anyValue(def.innerType), { nil: null })
    case 'default':
      return fc.oneof(anyValue(def.innerType), fc.constant(undefined))
    case 'object':
      return sound(objectOf(schema as z.core.$ZodObject))
    case 'union':
      return fc.oneof(...def.options.map(anyValue))
    case 'array':
      return sound(fc.array(anyValue(def.element), { maxLength: 3 }))
    case 'record':
      return sound(fc.dictionary(oneOf(def.keyType, STRINGS), anyValue(def.valueType), { maxKeys: 3 }))
    case 'literal':
      return fc.constantFrom(...def.values)
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries))
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'number':
      return oneOf(schema, [0, 0.5, 1, 2, 1000, 5000, 20_000])
    case 'string':
      return oneOf(schema, STRINGS)
    default:
      return json
  }
}

function oneOf(schema: z.core.$ZodType, values: readonly unknown[]): fc.Arbitrary<never> {
  return fc.constantFrom(...values.filter(value => z.safeParse(schema, value).success)) as fc.Arbitrary<never>
}

function objectOf(schema: z.core.$ZodObject): fc.Arbitrary<object> {
  const { shape, catchall } = schema._zod.def
  const fields = fc.record(Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, anyValue(field)])))
  const isOpen = catchall?._zod.def.type === 'unknown'
  const more = isOpen
    ? fc.dictionary(fc.constantFrom(...STRINGS, 'edges', 'always_edge', 'version'), json)
    : fc.constant({})
  return fc
    .tuple(more, fields)
    .map(([others, own]) =>
      Object.fromEntries(Object.entries({ ...others, ...own }).filter(([, value]) => value !== undefined)),
    )
}

/** Any draft that nobody imported. */
export const anyDraft: fc.Arbitrary<DraftContent> = anyValue(draftContent.omit({ source: true })).map(content =>
  draftContent.parse({ ...(content as object), source: null }),
)
