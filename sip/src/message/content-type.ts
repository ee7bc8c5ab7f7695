import { skipClass, skipSpace, TOKEN } from './characters.ts'
import type { MessageFields, Params } from './message.ts'
import { parseParams } from './params.ts'

interface ContentType {
  /** Lower-cased, without parameters: "application/sdp". */
  readonly mediaType: string
  readonly params: Params
}

/** RFC 3261 section 20.15; undefined when malformed. */
export function parseContentType(value: string): ContentType | undefined {
  const typeEnd = skipClass(TOKEN, value, 0)
  const slash = skipSpace(value, typeEnd)
  if (typeEnd === 0 || value.charCodeAt(slash) !== 0x2f) return undefined
  const subtype = skipSpace(value, slash + 1)
  const end = skipClass(TOKEN, value, subtype)
  const params = parseParams(value, end)
  if (end === subtype || params === undefined) return undefined
  return { mediaType: `${value.slice(0, typeEnd)}/${value.slice(subtype, end)}`.toLowerCase(), params }
}

/** The media type of a message's body; undefined when it has none or it cannot be read. */
export function mediaTypeOf(message: MessageFields): string | undefined {
  if (message.body.length === 0) return undefined
  const value = message.headers.get('Content-Type')
  return value === undefined ? undefined : parseContentType(value)?.mediaType
}
