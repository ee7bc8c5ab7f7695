import { isSystemVariable, isVariableName } from '../plan/names.ts'
import { type FlowState, LAYERS, type Layer } from './state.ts'

const MAX_VALUE = 8192
/** Names that a conversation can hold in one layer: updates and answers come from outside. */
const MAX_NAMES = 1000

/**
 * The value of a variable: a run update wins over what the conversation extracted or an action returned, then what the run
 * was created with, the inbound context, the flow's default.
 */
export function variable(state: FlowState, name: string): string | undefined {
  for (let index = LAYERS.length - 1; index >= 0; index--) {
    const layer = state.variables[LAYERS[index]!]
    if (Object.hasOwn(layer, name)) return layer[name]
  }
  return undefined
}

/** Sets what may be set. Names of the system, names that are none and what has no value are `ignored`. */
export function assign(
  state: FlowState,
  layer: Layer,
  values: Readonly<Record<string, unknown>>,
): { set: string[]; ignored: string[] } {
  const set: string[] = []
  const ignored: string[] = []
  const target = state.variables[layer]
  let count = Object.keys(target).length
  for (const [name, given] of Object.entries(values)) {
    const value = asText(given)
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

/** All values are strings; objects and lists become JSON. Undefined for what says nothing. */
export function asText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  const text = typeof value === 'string' ? value : typeof value === 'object' ? jsonOf(value) : String(value)
  return text === undefined || text.length <= MAX_VALUE ? text : text.slice(0, MAX_VALUE)
}

function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // A circle or a BigInt, which no parsed answer holds.
    return undefined
  }
}
