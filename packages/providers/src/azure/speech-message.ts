/** A text message of Azure's speech protocol: headers, a blank line, and a body. */
interface SpeechMessage {
  /** What the message is about: "speech.phrase"; lower case. */
  readonly path: string
  readonly body: string
}

/** Headers of a message. `id`: of the request that the message belongs to, 32 hexadecimal digits. */
interface SpeechHeaders {
  readonly path: string
  readonly id: string
  /** ISO 8601. */
  readonly sentAt: string
  readonly contentType?: string
}

/** Null: the text has no header `Path`. */
export function parseSpeechMessage(text: string): SpeechMessage | null {
  const end = text.indexOf('\r\n\r\n')
  const head = end === -1 ? text : text.slice(0, end)
  const path = /^path:[ \t]*(\S+)/im.exec(head)?.[1]
  return path === undefined ? null : { path: path.toLowerCase(), body: end === -1 ? '' : text.slice(end + 4) }
}

export function textMessage(headers: SpeechHeaders, body: object): string {
  return `${headerLines(headers)}\r\n${JSON.stringify(body)}`
}

/** A message of audio: the length of the headers in two bytes, the headers, and the audio. */
export function audioMessage(headers: SpeechHeaders, audio: Uint8Array): Uint8Array {
  const head = Buffer.from(headerLines(headers), 'latin1')
  const message = Buffer.alloc(2 + head.length + audio.length)
  message.writeUInt16BE(head.length, 0)
  head.copy(message, 2)
  message.set(audio, 2 + head.length)
  return message
}

function headerLines({ path, id, sentAt, contentType }: SpeechHeaders): string {
  const lines = [`Path: ${path}`, `X-RequestId: ${id}`, `X-Timestamp: ${sentAt}`]
  if (contentType !== undefined) lines.push(`Content-Type: ${contentType}`)
  return lines.map(line => `${line}\r\n`).join('')
}
