import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { jsonPointer, type Operation, type RawInput, Refusal } from '@parley/contract'
import type { Answer } from '../pipeline/answer.ts'
import type { Route } from '../pipeline/route.ts'
import type { LargeBody } from '../reading/large-body.ts'

/** The names of the arguments that the tool of an operation takes. */
function parametersOf({ params, query, body, idempotencyKey }: Operation): ReadonlySet<string> {
  return new Set([
    ...(params === null ? [] : ['params']),
    ...(query === null ? [] : ['query']),
    ...(body === null ? [] : ['body']),
    ...(idempotencyKey === null ? [] : ['idempotency_key']),
  ])
}

/**
 * The arguments of a tool call as the input of its operation. `large`: the body that was split from a large message; null:
 * the body is in `args`. It stays unparsed if the operation parses it on a worker thread. Throws the refusal of unknown
 * arguments and of a body above the operation's maximum size.
 */
export function toolInput(
  { operation, readingNeeds }: Pick<Route, 'operation' | 'readingNeeds'>,
  args: Readonly<Record<string, unknown>>,
  large: LargeBody | null,
): RawInput {
  const parameters = parametersOf(operation)
  const unknown = Object.keys(args).filter(name => !parameters.has(name))
  if (unknown.length > 0) {
    const issues = unknown.slice(0, 50).map(name => ({
      path: jsonPointer([name.slice(0, 256).toWellFormed()]),
      message: 'arguments: not a parameter of this tool',
    }))
    throw new Refusal('invalid_request', 'the tool arguments are not valid: see details.issues', {
      details: { issues },
    })
  }
  const { params, query, body, idempotency_key } = args
  const whole = { params, query, body, idempotencyKey: idempotency_key, idempotencyKeyName: 'idempotency_key' }
  if (large === null) return whole
  if (large.bytes.length > operation.bodyBytes)
    throw new Refusal('invalid_request', 'the body is too large for this operation', { reason: 'body_too_large' })
  return { ...whole, body: readingNeeds === null ? JSON.parse(new TextDecoder().decode(large.bytes)) : large }
}

/**
 * An answer as a tool's result: the body as structured content and as JSON text. A refusal is text only: the error
 * envelope does not match the tool's output schema, and clients that check the schema would hide it.
 */
export function toolResult({ text, error }: Answer): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text }]
  if (error !== null) return { content, isError: true }
  return { content, structuredContent: JSON.parse(text) as Record<string, unknown> }
}
