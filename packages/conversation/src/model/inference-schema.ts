import type { VariableItem } from '@parley/flow'

type Schema = Readonly<Record<string, unknown>>

/** JSON Schema of an object with the variables to be extracted from a conversation. */
export function variablesSchema(items: readonly VariableItem[]): Schema {
  const properties = Object.fromEntries(items.map(item => [item.name, propertyOf(item)]))
  const required = items.filter(item => item.required).map(item => item.name)
  return { type: 'object', properties, required, additionalProperties: false }
}

function propertyOf(item: VariableItem): Schema {
  const { description, examples } = item
  const type = item.type === 'enum' ? { type: 'string', enum: item.choices } : { type: item.type }
  return { ...type, description, ...(examples !== undefined && examples.length > 0 && { examples }) }
}

/** JSON Schema of an object with one member, because the arguments of a tool call are always an object. */
export function wrapped(member: string, schema: Schema): Schema {
  return { type: 'object', properties: { [member]: schema }, required: [member], additionalProperties: false }
}
