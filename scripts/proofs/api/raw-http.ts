import { once } from 'node:events'
import { type Agent, request } from 'node:http'
import { connect } from 'node:net'

/** A request that is sent unchanged; `fetch` would normalise or refuse some. */
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

const ANSWER_TIMEOUT_MS = 30_000

/** Sends a request. Rejects if the answer is not complete within 30 s. */
export async function sendRaw(url: string, agent: Agent, outgoing: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const sent = request({
    hostname,
    port,
    agent,
    method: outgoing.method,
    path: outgoing.target,
    headers: {
      ...outgoing.headers,
      ...(outgoing.body !== null && { 'content-length': String(Buffer.byteLength(outgoing.body)) }),
    },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
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
    sent.end(outgoing.body ?? undefined)
  })
}

/** Sends bytes, which may be anything, on a connection of their own. Null: the connection ended without an answer. */
export async function sendBytes(url: string, bytes: Uint8Array): Promise<RawAnswer | null> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy())
  socket.on('error', () => {})
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  const closed = once(socket, 'close')
  socket.end(bytes)
  await closed
  return firstAnswer(Buffer.concat(chunks))
}

/** The first HTTP response in `bytes`, which may contain several; null: none. */
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
