import type { z } from 'zod'
import { text } from './text.ts'

/** Id of an agent, an action or a secret: a letter or digit, then letters, digits, `_ . : -`; 1 to `max` characters. */
export function identifier(max: number): z.ZodString {
  return text(1, max).regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/, 'a letter or digit, then letters, digits, _ . : -')
}

export const actionId = identifier(128)

/** Id of a node or a component: 1 to 63 characters, no `/` and no control characters. */
export const nodeId = text(1, 63)
  // Written out instead of \p{Cc}, which not every tool that reads the OpenAPI document supports.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern refuses control characters
  .regex(/^[^/\u0000-\u001f\u007f-\u009f]+$/u, 'contains "/" or control characters')
  .refine(value => value !== '__proto__', 'the id __proto__ is reserved')

/** Id of an edge, unique in its node: 1 to 64 characters. */
export const edgeId = text(1, 64)

/**
 * Name of a dynamic variable: 1 to 128 characters, no braces, no control characters, no white space at either end. Exports have names
 * with spaces and in every script.
 */
export const variableName = text(1, 128)
  .regex(
    // Written out instead of \p{Cc}, which not every tool that reads the OpenAPI document supports.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern refuses control characters
    /^[^\s{}\u0000-\u001f\u007f-\u009f]([^{}\u0000-\u001f\u007f-\u009f]*[^\s{}\u0000-\u001f\u007f-\u009f])?$/u,
    'contains braces or control characters, or begins or ends with white space',
  )
  .refine(value => value !== '__proto__', 'the name __proto__ is reserved')

/** Value of a dynamic variable. */
export const variableValue = text(0, 4096)
