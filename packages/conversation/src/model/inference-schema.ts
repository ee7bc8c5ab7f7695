import { propertyDescription, propertyNames, type VariableItem } from '@parley/flow'

type Schema = Readonly<Record<string, unknown>>

/** JSON Schema of an object with the variables to be extracted from a conversation. */
export function variablesSchema(items: readonly VariableItem[]): Schema {
  const names = propertyNames(items.map(({ name }) => name))
  const properties = Object.fromEntries(items.map((item, index) => [names[index]!, propertyOf(item, names[index]!)]))
  const required = names.filter((_, index) => items[index]!.required)
  return { type: 'object', properties, required, additionalProperties: false }
}

function propertyOf(item: VariableItem, name: string): Schema {
  const { examples } = item
  const description = propertyDescription(item.name, name, item.description)
  const type = item.type === 'enum' ? { type: 'string', enum: item.choices } : { type: item.type }
  return { ...type, description, ...(examples !== undefined && examples.length > 0 && { examples }) }
}

/** JSON Schema of an object with one member, because the arguments of a tool call are always an object. */
export function wrapped(member: string, schema: Schema): Schema {
  return { type: 'object', properties: { [member]: schema }, required: [member], additionalProperties: false }
}
