import type { IncomingMessage } from 'node:http'

/** The body of a request as text; rejects when it is longer than `mostBytes`, or breaks off. */
export async function bodyOf(request: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > mostBytes) throw new Error('The request is too long.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
