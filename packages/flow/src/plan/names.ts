import { variableName } from '@parley/contract'

/** Whether the name is one that a dynamic variable can have: see `variableName`. */
export function isVariableName(name: string): boolean {
  return variableName.safeParse(name).success
}

/** Variable names that only the system sets. */
export function isSystemVariable(name: string): boolean {
  return name.startsWith('current_') || name.startsWith('previous_')
}
