import type { IncomingMessage } from 'node:http'

/** The body of a request as text. Rejects when it is longer than `maxBytes` or the connection breaks. */
export async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) throw new Error(`The request has more than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
