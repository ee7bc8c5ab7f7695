import type { VariableItem } from '@parley/flow'

type Schema = Readonly<Record<string, unknown>>

/** JSON Schema of an object with the variables to be read off a conversation. */
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

/** Models answer with objects: a text to be read off becomes the one member of an object. */
export function wrapped(member: string, schema: Schema): Schema {
  return { type: 'object', properties: { [member]: schema }, required: [member], additionalProperties: false }
}
