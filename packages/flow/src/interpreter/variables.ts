import { isSystemVariable, isVariableName } from '../plan/names.ts'
import { type FlowState, LAYERS, type Layer } from './state.ts'

/** Maximum length of a value. */
const MAX_VALUE = 8192
/** Maximum variables in one layer: updates and answers come from outside. */
const MAX_NAMES = 1000

/**
 * The value of a variable. A run update wins over a value that the conversation extracted or an action returned; then follow
 * the value from the creation of the run, the inbound context and the flow's default.
 */
export function variable(state: FlowState, name: string): string | undefined {
  for (let index = LAYERS.length - 1; index >= 0; index--) {
    const layer = state.variables[LAYERS[index]!]
    if (Object.hasOwn(layer, name)) return layer[name]
  }
  return undefined
}

/** Sets the variables. Names of system variables, invalid names and values that are null are `ignored`. */
export function assign(
  state: FlowState,
  layer: Layer,
  values: Readonly<Record<string, unknown>>,
): { set: string[]; ignored: string[] } {
  const set: string[] = []
  const ignored: string[] = []
  const target = state.variables[layer]
  let count = Object.keys(target).length
  for (const [name, source] of Object.entries(values)) {
    const value = asText(source)
    const isNew = !Object.hasOwn(target, name)
    if (value === undefined || !isVariableName(name) || isSystemVariable(name) || (isNew && count >= MAX_NAMES)) {
      ignored.push(name)
      continue
    }
    target[name] = value
    if (isNew) count++
    set.push(name)
  }
  return { set, ignored }
}

/** A value as text, which all variables are: objects and lists become JSON. Undefined for null and undefined. */
export function asText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  const text = typeof value === 'string' ? value : typeof value === 'object' ? jsonOf(value) : String(value)
  return text === undefined || text.length <= MAX_VALUE ? text : text.slice(0, MAX_VALUE)
}

function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // A circular reference or a BigInt, which a parsed answer never contains.
    return undefined
  }
}
