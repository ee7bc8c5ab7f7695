import type { Json } from '@parley/contract'
import type { z } from 'zod'
import { equal, isObject, type JsonObject } from './json.ts'
import { optionFor } from './read-value.ts'

/**
 * A value of `schema` as an export writes it: without nulls that mean the same as an absent member and, with `isBare`,
 * without members that equal their default.
 */
export function exportedValue(schema: z.core.$ZodType, value: Json, isBare: boolean): Json {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
      return exportedValue(def.innerType, value, isBare)
    case 'array':
      return Array.isArray(value) ? value.map(item => exportedValue(def.element, item, isBare)) : value
    case 'object':
    case 'union': {
      const option = optionFor(schema, value)
      return option !== undefined && isObject(value) ? exportedObject(option, value, isBare) : value
    }
    default:
      return value
  }
}

function exportedObject(schema: z.core.$ZodObject, value: JsonObject, isBare: boolean): JsonObject {
  const { shape } = schema._zod.def
  const fields: JsonObject = {}
  for (const [name, member] of Object.entries(value)) {
    const own = Object.hasOwn(shape, name) ? (shape[name] as z.core.$ZodTypes) : undefined
    const { def } = own?._zod ?? {}
    if (own === undefined || def?.type !== 'default') fields[name] = own ? exportedValue(own, member, isBare) : member
    else if (member !== null && !(isBare && equal(member, def.defaultValue)))
      fields[name] = exportedValue(own, member, isBare)
  }
  return fields
}
