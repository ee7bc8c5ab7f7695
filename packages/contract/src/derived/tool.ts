import { z } from 'zod'
import type { Operation } from '../operation.ts'
import { hasRequiredMember, type JsonSchema, jsonSchema } from './json-schema.ts'

/** An operation as a tool for language models (Model Context Protocol). */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations: {
    readonly title: string
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
  }
}

/**
 * The tool of an operation, or null if it has none. Input: `params`, `query` and `body`, each present if the
 * operation has it and required if it has a required member, and `idempotency_key` if the header is required.
 */
export function toTool(operation: Operation): Tool | null {
  if (operation.tool === null) return null
  return {
    name: operation.tool,
    description: operation.summary,
    inputSchema: jsonSchema(toolInput(operation), 'input'),
    outputSchema: jsonSchema(operation.output, 'output'),
    annotations: {
      title: operation.id,
      readOnlyHint: operation.hints.readOnly,
      destructiveHint: operation.hints.destructive,
      idempotentHint: operation.hints.idempotent,
    },
  }
}

/** The schema of a tool's arguments; each part has the schema of the operation. */
function toolInput(operation: Operation): z.ZodObject {
  const { params, query, body, idempotencyKey } = operation
  return z.strictObject({
    ...(params !== null && { params: asNeeded(params) }),
    ...(query !== null && { query: asNeeded(query) }),
    ...(body !== null && { body: asNeeded(body) }),
    ...(idempotencyKey !== null && { idempotency_key: idempotencyKey }),
  })
}

function asNeeded(part: z.ZodObject): z.ZodType {
  return hasRequiredMember(part) ? part : part.optional()
}
