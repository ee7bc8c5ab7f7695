/** One server-sent event. */
export interface ServerEvent {
  /** Of this event, or the last before it that had one; empty: none had. */
  readonly id: string
  /** Default `message`. */
  readonly type: string
  readonly data: string
}

/** More than any event of the API has. */
const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024

/**
 * The events of a body, as the HTML standard reads `text/event-stream`. `onHeard` is called for whatever comes, comments
 * too. Throws what the connection throws, and `RangeError` for an event that does not end.
 */
export async function* readServerEvents(
  body: ReadableStream<Uint8Array>,
  onHeard: () => void = () => {},
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
      onHeard()
      rest += decoder.decode(value, { stream: true })
      const parts = rest.split(/\r\n|\n|\r(?!$)/)
      rest = parts.pop() ?? ''
      if (rest.length + lines.length > MAX_EVENT_CHARACTERS) throw new RangeError('an event of the stream does not end')
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
