/** One server-sent event. */
export interface ServerEvent {
  /** The id of this event or of the last one before it that had an id; empty: none. */
  readonly id: string
  /** Default `message`. */
  readonly type: string
  readonly data: string
}

/** Maximum length of an event; the API's are shorter. */
const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024

/**
 * The events of a body, parsed by the rules of the HTML standard for `text/event-stream`. `onData` is called for all
 * data, including comments. Throws errors of the connection, and `RangeError` for an event beyond the maximum length.
 */
export async function* readServerEvents(
  body: ReadableStream<Uint8Array>,
  onData: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let lines: string[] = []
  let id = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onData()
      rest += decoder.decode(value, { stream: true })
      const parts = rest.split(/\r\n|\n|\r(?!$)/)
      rest = parts.pop() ?? ''
      if (rest.length + lines.length > MAX_EVENT_CHARACTERS)
        throw new RangeError(`an event of the stream is longer than ${MAX_EVENT_CHARACTERS} characters`)
      for (const line of parts) {
        if (line !== '') {
          lines.push(line)
          continue
        }
        const event = eventOf(lines, id)
        lines = []
        id = event.id
        if (event.data !== null) yield { ...event, data: event.data }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function eventOf(lines: readonly string[], lastId: string): { id: string; type: string; data: string | null } {
  let id = lastId
  let type = 'message'
  const data: string[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') data.push(value)
    else if (name === 'event') type = value || 'message'
    else if (name === 'id' && !value.includes('\0')) id = value
  }
  return { id, type, data: data.length === 0 ? null : data.join('\n') }
}
