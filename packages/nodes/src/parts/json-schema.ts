export type JsonSchema = Readonly<Record<string, unknown>>

/** JSON Schema of an object with these members and no others. */
export function objectSchema(properties: JsonSchema, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
