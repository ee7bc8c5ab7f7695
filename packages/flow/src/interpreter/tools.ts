import type { Action, HttpAction } from '../plan/action.ts'
import type { VariableItem } from '../plan/analysis-item.ts'
import type { ToolSpec } from './protocol.ts'
import { render } from './template.ts'

type Schema = Readonly<Record<string, unknown>>
type Lookup = (name: string) => string | undefined

/** The action as the model sees it. */
export function toolSpec(action: Action): ToolSpec {
  const { action_id, name, description } = action
  return { action_id, name, description, parameters: parametersOf(action) }
}

function parametersOf(action: Action): Schema {
  switch (action.kind) {
    case 'http':
      return openParameters(action)
    case 'transfer_call':
      return action.transfer_destination.type === 'inferred'
        ? objectOf({ destination: { type: 'string', description: action.transfer_destination.prompt } }, [
            'destination',
          ])
        : objectOf({}, [])
    case 'press_digit':
      return objectOf({ digits: DIGITS_SCHEMA }, ['digits'])
    case 'extract_dynamic_variables':
      return variablesSchema(action.variables)
    default:
      return objectOf({}, [])
  }
}

export const DIGITS_SCHEMA: Schema = { type: 'string', pattern: '^[0-9*#w]{1,64}$' }
export const DESTINATION_SCHEMA: Schema = { type: 'string', maxLength: 256 }

/** JSON Schema of an object with the variables as members. */
export function variablesSchema(items: readonly VariableItem[]): Schema {
  const properties: Record<string, unknown> = {}
  for (const item of items) {
    const { name, description } = item
    properties[name] =
      item.type === 'enum' ? { type: 'string', enum: item.choices, description } : { type: item.type, description }
  }
  return objectOf(
    properties,
    items.filter(item => item.required).map(item => item.name),
  )
}

function objectOf(properties: Readonly<Record<string, unknown>>, required: readonly string[]): Schema {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Parameters that are left to be inferred: those without `const`. */
export function openParameters(action: HttpAction): Schema {
  const open = Object.entries(propertiesOf(action)).filter(([, schema]) => !isConstant(schema))
  const names = new Set(open.map(([name]) => name))
  const required = Array.isArray(action.parameters.required) ? action.parameters.required : []
  return {
    ...action.parameters,
    type: 'object',
    properties: Object.fromEntries(open),
    required: required.filter(name => typeof name === 'string' && names.has(name)),
  }
}

export function hasOpenParameters(action: HttpAction): boolean {
  return Object.values(propertiesOf(action)).some(schema => !isConstant(schema))
}

/** The arguments of a call: what was inferred, and over it the constants with their variables filled in. */
export function completeArguments(action: HttpAction, inferred: unknown, lookup: Lookup): Record<string, unknown> {
  const complete: Record<string, unknown> = { ...(isObject(inferred) ? inferred : {}) }
  for (const [name, schema] of Object.entries(propertiesOf(action)))
    if (isConstant(schema))
      complete[name] = typeof schema.const === 'string' ? render(schema.const, lookup) : schema.const
  return complete
}

function propertiesOf(action: HttpAction): Record<string, unknown> {
  return isObject(action.parameters.properties) ? action.parameters.properties : {}
}

function isConstant(schema: unknown): schema is { const: unknown } {
  return isObject(schema) && Object.hasOwn(schema, 'const')
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What the model read out of the conversation, held to each variable's type; what does not fit is left out. */
export function fittingValues(items: readonly VariableItem[], values: unknown): Record<string, unknown> {
  if (!isObject(values)) return {}
  const fitting: Record<string, unknown> = {}
  for (const item of items) {
    if (!Object.hasOwn(values, item.name)) continue
    const value = fit(item, values[item.name])
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
