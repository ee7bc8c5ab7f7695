import { z } from 'zod'

/** A string of `min` (0 or 1) to `max` Unicode code points; U+0000 and lone surrogates are refused. */
export function text(min: 0 | 1, max: number): z.ZodType<string, string> {
  return z
    .string()
    .min(min)
    .refine(value => value.length <= max || codePoints(value) <= max, `longer than ${max} characters`)
    .refine(value => !value.includes('\0') && value.isWellFormed(), 'holds U+0000 or half a surrogate pair')
}

function codePoints(value: string): number {
  let count = 0
  for (const _ of value) count++
  return count
}

/** Agents, actions and secrets: a letter or digit, then letters, digits, `_ . : -`. */
export function identifier(max: number): z.ZodType<string, string> {
  return z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/, 'an id: a letter or digit, then letters, digits, _ . : -')
}

/** Nodes and components: 1..63 characters without `/` and controls. */
export const nodeId: z.ZodType<string, string> = text(1, 63).refine(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it refuses
  value => !/[/\u0000-\u001f\u007f-\u009f]/.test(value) && value !== '__proto__',
  'a node or component id holds neither "/" nor control characters, and is not __proto__',
)

/** An edge, 1..64 characters, unique in its node. */
export const edgeId: z.ZodType<string, string> = text(1, 64)

/** A dynamic variable: letter or `_`, then letters, digits, `_ . -`; 1..128. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/

export const variableName: z.ZodType<string, string> = z
  .string()
  .refine(isVariableName, 'a variable name: a letter or _, then letters, digits, _ . -; at most 128')

export function isVariableName(name: string): boolean {
  // The one name that plain objects cannot hold.
  return VARIABLE_NAME.test(name) && name !== '__proto__'
}

/** Names that only the system sets. */
export function isSystemVariable(name: string): boolean {
  return name.startsWith('current_') || name.startsWith('previous_')
}
