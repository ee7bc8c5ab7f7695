import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { jsonPointer, type Operation, type RawInput, Refusal } from '@parley/contract'
import type { Answer } from '../pipeline/answer.ts'
import type { Route } from '../pipeline/route.ts'
import type { LargeBody } from '../reading/large-body.ts'

/** The members that a tool of the operation takes. */
function takenBy({ params, query, body, idempotencyKey }: Operation): ReadonlySet<string> {
  return new Set([
    ...(params === null ? [] : ['params']),
    ...(query === null ? [] : ['query']),
    ...(body === null ? [] : ['body']),
    ...(idempotencyKey === null ? [] : ['idempotency_key']),
  ])
}

/**
 * The arguments of a tool as an operation's input. Throws the refusal of members that the tool does not take, and of a
 * body larger than the operation takes; `large` is the body of a large message, null where it stands in `given`. Bodies
 * that a thread reads go on as bytes.
 */
export function toolInput(
  { operation, readingNeeds }: Pick<Route, 'operation' | 'readingNeeds'>,
  given: Readonly<Record<string, unknown>>,
  large: LargeBody | null,
): RawInput {
  const taken = takenBy(operation)
  const strange = Object.keys(given).filter(name => !taken.has(name))
  if (strange.length > 0) {
    const issues = strange.slice(0, 50).map(name => ({
      path: jsonPointer([name.slice(0, 256).toWellFormed()]),
      message: 'arguments: the tool does not take it',
    }))
    throw new Refusal('invalid_request', 'the arguments are not as they should be', { details: { issues } })
  }
  const { params, query, body, idempotency_key } = given
  const whole = { params, query, body, idempotencyKey: idempotency_key }
  if (large === null) return whole
  if (large.bytes.length > operation.bodyBytes)
    throw new Refusal('invalid_request', 'the body is too large for this operation', { reason: 'body_too_large' })
  return { ...whole, body: readingNeeds === null ? JSON.parse(new TextDecoder().decode(large.bytes)) : large }
}

/**
 * An answer as a tool's result: the body as structured content and as JSON text. A refusal is text alone: clients hold
 * structured content against the tool's output schema, which the envelope is not of, and would hide what it says.
 */
export function toolResult({ text, error }: Answer): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text }]
  if (error !== null) return { content, isError: true }
  return { content, structuredContent: JSON.parse(text) as Record<string, unknown> }
}
