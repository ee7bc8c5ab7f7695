import type { z } from 'zod'
import { text } from './text.ts'

/** Agents, actions, secrets: a letter or digit, then letters, digits, `_ . : -`; 1..`max`. */
export function identifier(max: number): z.ZodString {
  return text(1, max).regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/, 'a letter or digit, then letters, digits, _ . : -')
}

export const actionId = identifier(128)

/** Nodes and components: 1..63 characters without `/` and control characters. */
export const nodeId = text(1, 63)
  // As \p{Cc}, which not every reader of the OpenAPI document knows.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  .regex(/^[^/\u0000-\u001f\u007f-\u009f]+$/u, 'holds "/" or control characters')
  .refine(value => value !== '__proto__', 'is no id')

/** Edges: 1..64, unique in their node. */
export const edgeId = text(1, 64)

/** A dynamic variable: a letter or `_`, then letters, digits, `_ . -`; 1..128. */
export const variableName = text(1, 128)
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'a letter or _, then letters, digits, _ . -')
  .refine(value => value !== '__proto__', 'is no name')

/** What a dynamic variable holds. */
export const variableValue = text(0, 4096)
