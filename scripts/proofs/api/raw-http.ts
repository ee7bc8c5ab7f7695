import { once } from 'node:events'
import { type Agent, request } from 'node:http'
import { connect } from 'node:net'

/** A request as it goes out: nothing is put in order as `fetch` would. */
export interface RawRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

const ANSWER_WITHIN_MS = 30_000

/** Rejects when no whole answer comes within 30 s. */
export async function sendRaw(url: string, agent: Agent, wanted: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const sent = request({
    hostname,
    port,
    agent,
    method: wanted.method,
    path: wanted.target,
    headers: {
      ...wanted.headers,
      ...(wanted.body !== null && { 'content-length': String(Buffer.byteLength(wanted.body)) }),
    },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  })
  return new Promise((resolve, reject) => {
    let isAnswered = false
    // A server that refuses a body may end the connection while the rest of it is being sent.
    sent.on('error', error => {
      if (!isAnswered) reject(error)
    })
    sent.on('response', response => {
      isAnswered = true
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
      })
    })
    sent.end(wanted.body ?? undefined)
  })
}

/** Bytes that need be no HTTP, on a connection of their own; null where nothing was answered before it ended. */
export async function sendBytes(url: string, bytes: Uint8Array): Promise<RawAnswer | null> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy())
  socket.on('error', () => {})
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  const closed = once(socket, 'close')
  socket.end(bytes)
  await closed
  return firstAnswer(Buffer.concat(chunks))
}

/** Of several, since nonsense may be read as more than one request; null: none. */
function firstAnswer(bytes: Buffer): RawAnswer | null {
  const end = bytes.indexOf('\r\n\r\n')
  const [line = '', ...fields] = bytes.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]
  if (status === undefined) return null
  const headers: Record<string, string> = Object.fromEntries(
    fields.map(field => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
    }),
  )
  const from = end + '\r\n\r\n'.length
  const text = bytes.subarray(from, from + Number(headers['content-length'] ?? 0)).toString('utf8')
  return { status: Number(status), headers, text }
}
