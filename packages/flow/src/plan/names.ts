import { variableName } from '@parley/contract'

/** A dynamic variable: letter or `_`, then letters, digits, `_ . -`; 1..128. */
export function isVariableName(name: string): boolean {
  return variableName.safeParse(name).success
}

/** Variable names that only the system sets. */
export function isSystemVariable(name: string): boolean {
  return name.startsWith('current_') || name.startsWith('previous_')
}
