import { isObject, type JsonObject } from '../json-object.ts'

/** Keywords that services accept in schemas of strict tools. A schema with any other cannot be strict. */
const ALLOWED = new Set(
  `type description title properties required additionalProperties items enum const anyOf default format pattern minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems minLength maxLength`.split(/\s+/),
)

/**
 * The schema of a tool whose arguments a service guarantees: every object is closed. Null: the schema describes objects of any shape, or has
 * keywords that services do not guarantee, so the tool cannot be strict.
 */
export function closedSchema(schema: JsonObject): JsonObject | null {
  return convert(schema, properties => properties)
}

/** As {@link closedSchema}, and every property is required: an optional one may be null (see {@link withoutNulls}). */
export function requiringSchema(schema: JsonObject): JsonObject | null {
  return convert(schema, (properties, required) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, of]) => [name, required.has(name) ? of : orNull(of)] as const),
    ),
  )
}

/** Arguments that follow {@link requiringSchema}, without the nulls of optional properties. */
export function withoutNulls(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = isObject(schema) ? schema.items : undefined
    return value.map(item => withoutNulls(items, item))
  }
  if (!isObject(value)) return value
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  const required = isObject(schema) && Array.isArray(schema.required) ? schema.required : []
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== null || required.includes(name) || !(name in properties))
      .map(([name, member]) => [name, withoutNulls(properties[name], member)] as const),
  )
}

type Properties = (properties: Readonly<Record<string, JsonObject>>, required: ReadonlySet<unknown>) => JsonObject

function convert(schema: JsonObject, ofObject: Properties): JsonObject | null {
  if (!Object.keys(schema).every(keyword => ALLOWED.has(keyword))) return null
  const { properties, items, anyOf } = schema
  const result: Record<string, unknown> = { ...schema }
  if (anyOf !== undefined) {
    const options = Array.isArray(anyOf) ? convertAll(anyOf, ofObject) : null
    if (options === null) return null
    result.anyOf = options
  }
  if (items !== undefined) {
    const converted = isObject(items) ? convert(items, ofObject) : null
    if (converted === null) return null
    result.items = converted
  }
  const isAnObject = schema.type === 'object' || properties !== undefined
  if (!isAnObject) return result
  // An object without a list of properties may hold anything.
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false
  if (isOpen || !isObject(properties)) return null
  const converted: Record<string, JsonObject> = {}
  for (const [name, of] of Object.entries(properties)) {
    const property = isObject(of) ? convert(of, ofObject) : null
    if (property === null) return null
    converted[name] = property
  }
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : [])
  const members = ofObject(converted, required)
  const isRequiring = members !== converted
  return {
    ...result,
    type: 'object',
    properties: members,
    required: isRequiring ? Object.keys(members) : [...required],
    additionalProperties: false,
  }
}

function convertAll(schemas: readonly unknown[], ofObject: Properties): JsonObject[] | null {
  const converted = schemas.map(schema => (isObject(schema) ? convert(schema, ofObject) : null))
  return converted.some(one => one === null) ? null : (converted as JsonObject[])
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) }
}
