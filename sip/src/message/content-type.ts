import type { MessageFields, Params } from './message.ts'

export interface ContentType {
  /** Lower-cased, without parameters: "application/sdp". */
  readonly mediaType: string
  readonly params: Params
}

export function parseContentType(_value: string): ContentType | undefined {
  throw new Error('being written')
}

/** The media type of a message's body; undefined when it has none or it cannot be read. */
export function mediaTypeOf(_message: MessageFields): string | undefined {
  throw new Error('being written')
}
