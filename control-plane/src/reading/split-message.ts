import type { Issue } from '@parley/contract'
import { parseJson } from './parse-json.ts'

/** A large MCP message for a worker thread: JSON in UTF-8. */
export interface SplitTask {
  readonly message: Uint8Array
}

/** A large MCP message, split into the message and the body of its tool call. */
export type SplitOutcome =
  | { readonly state: 'misformed'; readonly issue: Issue }
  /** The message without the body of its tool call is larger than any valid message. */
  | { readonly state: 'too_large' }
  | {
      readonly state: 'split'
      /** The message; `params.arguments.body` is an empty object if the body was taken out. */
      readonly message: unknown
      /** The body as JSON in UTF-8; null: the message has none. */
      readonly body: Uint8Array<ArrayBuffer> | null
    }

/** Maximum length of a message without the body, in UTF-16 units: a small body, names and the envelope. */
const MAX_REST = 1_114_112

/** Takes the body of a tool call out of a JSON-RPC message. Pure. */
export function splitMessage(bytes: Uint8Array): SplitOutcome {
  const json = parseJson(new TextDecoder().decode(bytes))
  if (!json.ok) return { state: 'misformed', issue: json.issue }
  const message = json.value
  const args = member(member(message, 'params'), 'arguments')
  const body = member(args, 'body')
  const hasBody = typeof body === 'object' && body !== null
  if (hasBody) (args as { body: unknown }).body = {}
  if (JSON.stringify(message).length > MAX_REST) return { state: 'too_large' }
  return { state: 'split', message, body: hasBody ? new TextEncoder().encode(JSON.stringify(body)) : null }
}

function member(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null && Object.hasOwn(of, name) ? (of as Record<string, unknown>)[name] : null
}
