import type { JsonSchema } from '@parley/contract'

const COMPONENTS = '#/components/schemas/'
const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

/**
 * The TypeScript type of a JSON Schema of the OpenAPI document. Throws `TypeError` for one that has no such type yet.
 */
export function typeOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: values, type } = schema
  if (typeof $ref === 'string' && $ref.startsWith(COMPONENTS)) return $ref.slice(COMPONENTS.length)
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(values)) return values.map(value => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices)) return union(choices.map(typeOf))
  if (Array.isArray(schema.allOf)) return schema.allOf.map(part => `(${typeOf(part)})`).join(' & ')
  if (Array.isArray(type)) return union(type.map(one => typeOf({ ...schema, type: one })))
  if (type === 'array') return `(${typeOf((schema.items ?? {}) as JsonSchema)})[]`
  if (type === 'object') return objectType(schema)
  if (typeof type === 'string' && PLAIN[type] !== undefined) return PLAIN[type]
  if (type === undefined && !('not' in schema)) return 'Json'
  throw new TypeError(`typeOf does not support the JSON Schema ${JSON.stringify(schema).slice(0, 200)}`)
}

function union(types: readonly string[]): string {
  return [...new Set(types)].map(type => (type.includes(' & ') ? `(${type})` : type)).join(' | ')
}

function objectType(schema: JsonSchema): string {
  const { required = [], additionalProperties } = schema
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>
  if (Object.keys(properties).length > 0) return `{\n${propertiesOf(properties, required as readonly string[])}\n}`
  const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties as JsonSchema) : 'Json'
  return additionalProperties === false ? 'Record<string, never>' : `{ [name: string]: ${values} }`
}

/** The members of an object type. */
export function propertiesOf(schemas: Readonly<Record<string, JsonSchema>>, required: readonly string[]): string {
  return Object.entries(schemas)
    .map(([name, schema]) => `${remarks(schema)}${property(name, typeOf(schema), required.includes(name))}`)
    .join('\n')
}

/** One member of an object type; an optional one may also be undefined. */
export function property(name: string, type: string, isRequired: boolean): string {
  const written = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
  return isRequired ? `${written}: ${type}` : `${written}?: ${type} | undefined`
}

/** A doc comment with the constraints that the type cannot express. */
function remarks({ default: preset, format, minLength, maxLength, minimum, maximum }: JsonSchema): string {
  const constraints = [
    ...(typeof format === 'string' ? [format] : []),
    ...(maxLength === undefined ? [] : [`${minLength ?? 0}..${maxLength} characters`]),
    ...(minimum === undefined && maximum === undefined ? [] : [`${minimum ?? ''}..${maximum ?? ''}`]),
    ...(preset === undefined || typeof preset === 'object' ? [] : [`default ${JSON.stringify(preset)}`]),
  ]
  return constraints.length === 0 ? '' : `/** ${constraints.join(', ').replaceAll('*/', '* /')} */ `
}
