import { z } from 'zod'
import type { Operation } from '../operation.ts'
import { briefSchema } from './brief-schema.ts'
import { hasRequiredMember, type JsonSchema, jsonSchema } from './json-schema.ts'

/**
 * An operation as a tool for language models (Model Context Protocol). Every model reads the whole list before its first
 * call, so it is brief: no schemas of answers, and of arguments only what helps to fill them in. The OpenAPI document has the rest.
 */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly annotations: {
    readonly readOnlyHint?: true
    readonly destructiveHint?: boolean
    readonly idempotentHint?: true
  }
}

/**
 * The tool of an operation, or null if it has none. Input: `params`, `query` and `body`, each present if the
 * operation has it and required if it has a required member, and `idempotency_key` if the header is required.
 */
export function toTool(operation: Operation): Tool | null {
  if (operation.tool === null) return null
  const { readOnly, destructive, idempotent } = operation.hints
  return {
    name: operation.tool,
    description: operation.summary,
    inputSchema: briefSchema(jsonSchema(toolInput(operation), 'input')),
    // A client takes a tool without hints for one that writes and destroys.
    annotations: {
      ...(readOnly ? { readOnlyHint: true } : { destructiveHint: destructive }),
      ...(idempotent && { idempotentHint: true }),
    },
  }
}

/** The schema of a tool's arguments; each part has the schema of the operation. */
function toolInput(operation: Operation): z.ZodObject {
  const { params, query, body, toolBody, idempotencyKey } = operation
  return z.strictObject({
    ...(params !== null && { params: asNeeded(params) }),
    ...(query !== null && { query: asNeeded(query) }),
    ...(body !== null && { body: asNeeded(toolBody ?? body) }),
    ...(idempotencyKey !== null && { idempotency_key: idempotencyKey }),
  })
}

function asNeeded(part: z.ZodObject): z.ZodType {
  return hasRequiredMember(part) ? part : part.optional()
}
