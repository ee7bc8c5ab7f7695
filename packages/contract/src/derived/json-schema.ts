import { z } from 'zod'

/** A JSON Schema 2020-12. */
export type JsonSchema = { [keyword: string]: unknown }

/**
 * The JSON Schema of `schema`: as a request is written (`input`) or as an answer is read (`output`). Named schemas
 * inside it stand in `$defs` and are referred to; the schema itself is written out.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, '~standard': __, $ref, $defs, ...rest } = z.toJSONSchema(schema, { io, override: withoutNoise })
  const definitions: { [name: string]: JsonSchema } = { ...($defs as object) }
  if ($ref === undefined) return { ...rest, ...($defs !== undefined && { $defs: definitions }) }
  // No schema of the API refers to itself: its own name has no other user.
  const name = $ref.slice(DEFINITIONS.length)
  const { [name]: own, ...others } = definitions
  return { ...own, ...(Object.keys(others).length > 0 && { $defs: others }) }
}

/** Where references of {@link jsonSchema} lead. */
export const DEFINITIONS = '#/$defs/'

const SAID_BY_FORMAT = new Set<unknown>(['date-time', 'uuid'])

function withoutNoise({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  // The bounds of exact integers are said of every integer; they say nothing about the API.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (SAID_BY_FORMAT.has(jsonSchema.format)) delete jsonSchema.pattern
}

/** Whether an object schema has a member that must be given. */
export function hasRequiredMember(schema: z.ZodObject): boolean {
  return Object.values(schema.shape).some(isRequired)
}

/** Whether a member must be given: what is optional or has a default need not. */
export function isRequired(member: z.core.$ZodType): boolean {
  return member._zod.optin === undefined
}
