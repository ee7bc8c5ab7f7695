import { z } from 'zod'

/** A JSON Schema 2020-12. */
export type JsonSchema = { [keyword: string]: unknown }

/**
 * The JSON Schema of `schema` for requests (`input`) or responses (`output`). Named schemas
 * inside it are references into `$defs`; the schema itself is inlined.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, '~standard': __, $ref, $defs, ...rest } = z.toJSONSchema(schema, { io, override: withoutNoise })
  const definitions: { [name: string]: JsonSchema } = { ...($defs as object) }
  if ($ref === undefined) return { ...rest, ...($defs !== undefined && { $defs: definitions }) }
  // No schema of the API is recursive, so nothing else refers to the definition that is inlined.
  const name = $ref.slice(DEFINITIONS.length)
  const { [name]: own, ...others } = definitions
  return { ...own, ...(Object.keys(others).length > 0 && { $defs: others }) }
}

/** Prefix of the references in {@link jsonSchema}. */
export const DEFINITIONS = '#/$defs/'

const FORMATS_WITHOUT_PATTERN = new Set<unknown>(['date-time', 'uuid'])

function withoutNoise({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  // zod adds the bounds of safe integers to every integer; they are no bounds of the API.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (FORMATS_WITHOUT_PATTERN.has(jsonSchema.format)) delete jsonSchema.pattern
}

/** Whether an object schema has a required member. */
export function hasRequiredMember(schema: z.ZodObject): boolean {
  return Object.values(schema.shape).some(isRequired)
}

/** Whether a member is required: members that are optional or have a default are not. */
export function isRequired(member: z.core.$ZodType): boolean {
  return member._zod.optin === undefined
}
