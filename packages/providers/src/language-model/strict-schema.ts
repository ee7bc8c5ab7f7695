import { isObject, type JsonObject } from '../json-object.ts'

/** What a service accepts in schemas of strict tools. It answers with an error to a strict tool with anything else. */
interface StrictRules {
  readonly keywords: ReadonlySet<string>
  readonly formats: ReadonlySet<string>
  /** The highest `minItems`. */
  readonly maxMinItems: number
}

const KEYWORDS = 'type description title properties required additionalProperties items enum const anyOf format'.split(
  ' ',
)
const FORMATS = 'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' ')

/** Anthropic's structured outputs: no bounds of numbers and of lengths, no patterns. */
const ANTHROPIC: StrictRules = {
  keywords: new Set([...KEYWORDS, 'default', 'minItems']),
  formats: new Set([...FORMATS, 'uri']),
  maxMinItems: 1,
}

/** OpenAI's structured outputs: no defaults and no lengths of strings. */
const OPENAI: StrictRules = {
  keywords: new Set([
    ...KEYWORDS,
    ...'pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'.split(' '),
  ]),
  formats: new Set(FORMATS),
  maxMinItems: Number.POSITIVE_INFINITY,
}

/** Gemini's subset of JSON Schema. */
const GEMINI: StrictRules = {
  keywords: new Set([
    ...KEYWORDS.filter(keyword => keyword !== 'const'),
    ...'minimum maximum minItems maxItems'.split(' '),
  ]),
  formats: new Set(FORMATS),
  maxMinItems: Number.POSITIVE_INFINITY,
}

/**
 * The schema of a tool whose arguments Anthropic guarantees: every object is closed. Null: the schema describes values of any shape, or has
 * keywords that the service refuses, so the tool cannot be strict.
 */
export function closedSchema(schema: JsonObject): JsonObject | null {
  return ofTool(schema, { rules: ANTHROPIC, ofObject: properties => properties })
}

/** As {@link closedSchema} for Gemini. */
export function validatedSchema(schema: JsonObject): JsonObject | null {
  return ofTool(schema, { rules: GEMINI, ofObject: properties => properties })
}

/** As {@link closedSchema} for OpenAI, and every property is required: an optional one may be null (see {@link withoutNulls}). */
export function requiringSchema(schema: JsonObject): JsonObject | null {
  return ofTool(schema, {
    rules: OPENAI,
    ofObject: (properties, required) =>
      Object.fromEntries(
        Object.entries(properties).map(([name, of]) => [name, required.has(name) ? of : orNull(of)] as const),
      ),
  })
}

/** Number of optional properties in a schema of closed objects. */
export function optionalProperties(schema: unknown): number {
  if (Array.isArray(schema)) return schema.reduce((sum: number, one) => sum + optionalProperties(one), 0)
  if (!isObject(schema)) return 0
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : [])
  const own = Object.keys(properties).filter(name => !required.has(name)).length
  return own + optionalProperties([...Object.values(properties), schema.items, schema.anyOf])
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

interface Conversion {
  readonly rules: StrictRules
  readonly ofObject: (
    properties: Readonly<Record<string, JsonObject>>,
    required: ReadonlySet<unknown>,
  ) => Readonly<Record<string, JsonObject>>
}

/** The arguments of a tool are an object, without alternatives to it. */
function ofTool(schema: JsonObject, conversion: Conversion): JsonObject | null {
  return schema.type === 'object' && schema.anyOf === undefined ? convert(schema, conversion) : null
}

function convert(schema: JsonObject, conversion: Conversion): JsonObject | null {
  if (!isAccepted(schema, conversion.rules)) return null
  const { properties, items, anyOf } = schema
  const result: Record<string, unknown> = { ...schema }
  if (anyOf !== undefined) {
    const options = Array.isArray(anyOf) ? convertAll(anyOf, conversion) : null
    if (options === null) return null
    result.anyOf = options
  }
  if (items !== undefined) {
    const converted = isObject(items) ? convert(items, conversion) : null
    if (converted === null) return null
    result.items = converted
  }
  const types = [schema.type].flat()
  // A list without a schema of its items may hold anything, as may an object without a list of properties.
  if (types.includes('array') && items === undefined) return null
  if (!types.includes('object') && properties === undefined) return result
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false
  if (isOpen || !isObject(properties)) return null
  const names = Object.keys(properties)
  const converted = convertAll(Object.values(properties), conversion)
  const required = Array.isArray(schema.required) ? schema.required : []
  if (converted === null || !required.every(name => names.includes(name))) return null
  const closed = Object.fromEntries(names.map((name, at) => [name, converted[at]!] as const))
  const members = conversion.ofObject(closed, new Set(required))
  return {
    ...result,
    type: schema.type ?? 'object',
    properties: members,
    required: members === closed ? required : names,
    additionalProperties: false,
  }
}

function isAccepted(schema: JsonObject, { keywords, formats, maxMinItems }: StrictRules): boolean {
  const { type, format, minItems, anyOf, properties, enum: values } = schema
  if (!Object.keys(schema).every(keyword => keywords.has(keyword))) return false
  if (
    type === undefined &&
    anyOf === undefined &&
    properties === undefined &&
    values === undefined &&
    !('const' in schema)
  )
    return false
  if (format !== undefined && !formats.has(String(format))) return false
  if (Array.isArray(values) && values.some(value => value !== null && typeof value === 'object')) return false
  return minItems === undefined || Number(minItems) <= maxMinItems
}

function convertAll(schemas: readonly unknown[], conversion: Conversion): JsonObject[] | null {
  const converted = schemas.map(schema => (isObject(schema) ? convert(schema, conversion) : null))
  return converted.every(one => one !== null) ? converted : null
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string' || 'const' in schema) return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) }
}
