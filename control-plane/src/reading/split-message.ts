/** A large message of the tool protocol: JSON in UTF-8. Crosses to a thread as it is. */
export interface SplitTask {
  readonly message: Uint8Array
}

/** What a large message of the tool protocol is made of. */
export type SplitOutcome =
  | { readonly state: 'no_json' }
  /** There is more besides the body of a tool's call than any message holds. */
  | { readonly state: 'too_large' }
  | {
      readonly state: 'split'
      /** The message; `params.arguments.body` is an empty object where it stands apart. */
      readonly message: unknown
      /** The body as JSON in UTF-8; null where the message has none. */
      readonly body: Uint8Array<ArrayBuffer> | null
    }

/** Of a message without the body, in UTF-16 units of JSON: what small bodies and names take. */
const MAX_REST = 1_114_112

/** Takes the body of a tool's call out of a JSON-RPC message. Pure. */
export function splitMessage(bytes: Uint8Array): SplitOutcome {
  let message: unknown
  try {
    message = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return { state: 'no_json' }
  }
  const given = member(member(message, 'params'), 'arguments')
  const body = member(given, 'body')
  const isApart = typeof body === 'object' && body !== null
  if (isApart) (given as { body: unknown }).body = {}
  if (JSON.stringify(message).length > MAX_REST) return { state: 'too_large' }
  return { state: 'split', message, body: isApart ? new TextEncoder().encode(JSON.stringify(body)) : null }
}

function member(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null && Object.hasOwn(of, name) ? (of as Record<string, unknown>)[name] : null
}
