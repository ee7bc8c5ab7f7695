import type { JsonSchema } from './json-schema.ts'

/** Longer patterns tell a model less than they cost; the server names what does not match. */
const MAX_PATTERN = 24
/** Larger bounds are limits of storage, which a model does not meet. */
const MAX_LENGTH = 255
const MAX_NUMBER = 1_000_000

/** Keywords whose value is a map of schemas, and not a schema. */
const MAPS = new Set(['properties', '$defs'])

/**
 * A JSON Schema that says what a model needs to fill it in, and accepts at least what `schema` accepts: without bounds that
 * a model does not meet, without long patterns, without `additionalProperties: false`, and with `T or null` as one schema.
 */
export function briefSchema(schema: JsonSchema): JsonSchema {
  const brief: JsonSchema = {}
  for (const [keyword, value] of Object.entries(schema))
    if (isUseful(keyword, value)) brief[keyword] = briefValue(keyword, value)
  return withNullableType(brief)
}

function isUseful(keyword: string, value: unknown): boolean {
  switch (keyword) {
    case 'additionalProperties':
      return value !== false && !isEmpty(value)
    case 'propertyNames':
      return false
    case 'minLength':
    case 'minItems':
      return (value as number) > 1
    case 'maxLength':
      return (value as number) <= MAX_LENGTH
    case 'maximum':
    case 'maxItems':
    case 'maxProperties':
      return (value as number) <= MAX_NUMBER
    case 'pattern':
      return (value as string).length <= MAX_PATTERN
    case 'default':
      return value !== null && !isEmpty(value)
    default:
      return true
  }
}

function briefValue(keyword: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => (isObject(item) ? briefSchema(item) : item))
  if (!isObject(value) || keyword === 'default') return value
  if (!MAPS.has(keyword)) return briefSchema(value)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isObject(inner) ? briefSchema(inner) : inner]),
  )
}

/** `{anyOf: [{type: T, ...}, {type: null}]}` as `{type: [T, null], ...}`. */
function withNullableType(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== 'null') return schema
  const [only] = anyOf as JsonSchema[]
  if (typeof only?.type !== 'string' || 'enum' in only || 'const' in only) return schema
  return { ...rest, ...only, type: [only.type, 'null'] }
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}
