import { z } from 'zod'
import { variableName } from '../values/names.ts'
import { text } from '../values/text.ts'
import { isObject, type JsonSchema, objectSchema } from './json-schema.ts'
import { propertyDescription, propertyNames } from './property-names.ts'

const described = {
  name: variableName,
  description: text(1, 1024),
  examples: z.array(text(0, 1024)).max(20).optional(),
  required: z.boolean().default(false),
}

/** A variable that the model reads out of a conversation, with its type and a description for the model. */
export const variableItem = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('string'), ...described }),
    z.strictObject({ type: z.literal('enum'), ...described, choices: z.array(text(1, 256)).min(1).max(50) }),
    z.strictObject({ type: z.literal('boolean'), ...described }),
    z.strictObject({ type: z.literal('number'), ...described }),
  ])
  .meta({ id: 'VariableItem' })

export type VariableItem = z.output<typeof variableItem>

/** JSON Schema of an object with the variables as members. */
export function variablesSchema(items: readonly VariableItem[]): JsonSchema {
  const properties: Record<string, unknown> = {}
  const names = propertyNames(items.map(({ name }) => name))
  for (const [index, item] of items.entries()) {
    const property = names[index]!
    const description = propertyDescription(item.name, property, item.description)
    properties[property] =
      item.type === 'enum' ? { type: 'string', enum: item.choices, description } : { type: item.type, description }
  }
  return objectSchema(
    properties,
    names.filter((_, index) => items[index]!.required),
  )
}

/** Those values, as the model read them, that fit their variable's type. */
export function fittingValues(items: readonly VariableItem[], values: unknown): Record<string, unknown> {
  if (!isObject(values)) return {}
  const fitting: Record<string, unknown> = {}
  const names = propertyNames(items.map(({ name }) => name))
  for (const [index, item] of items.entries()) {
    const property = names[index]!
    if (!Object.hasOwn(values, property)) continue
    const value = fit(item, values[property])
    if (value !== undefined) fitting[item.name] = value
  }
  return fitting
}

function fit(item: VariableItem, value: unknown): unknown {
  const text = typeof value === 'string' ? value.trim() : value
  switch (item.type) {
    case 'string':
      return typeof text === 'string' || typeof text === 'number' ? text : undefined
    case 'number':
      return typeof text === 'string' ? (/^[-+]?\d{1,30}(\.\d{1,30})?$/.test(text) ? text : undefined) : finite(text)
    case 'boolean':
      if (typeof text === 'boolean') return text
      return typeof text === 'string' && /^(true|false)$/i.test(text) ? text.toLowerCase() : undefined
    case 'enum':
      return item.choices.find(choice => typeof text === 'string' && choice.toLowerCase() === text.toLowerCase())
  }
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
