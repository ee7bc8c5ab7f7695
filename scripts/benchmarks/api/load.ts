import { Agent, request } from 'node:http'
import type { Ask } from './messages.ts'

/** The result of a burst of requests. */
export interface Burst {
  readonly perSecond: number
  /** Duration of each request, ms. */
  readonly tookMs: readonly number[]
}

/** Sends `count` requests over `atOnce` connections; rejects at the first answer other than 2xx. */
export async function burst(url: string, key: string, count: number, atOnce: number, next: () => Ask): Promise<Burst> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const tookMs: number[] = []
  let left = count
  const begun = performance.now()
  const worker = async () => {
    while (left-- > 0) tookMs.push(await ask(new URL(url), key, agent, next()))
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, worker))
  } finally {
    agent.destroy()
  }
  return { perSecond: (count * 1000) / (performance.now() - begun), tookMs }
}

/** Sends a request; resolves with its duration, ms; rejects if the answer is not 2xx. */
export function ask(
  base: URL,
  key: string,
  agent: Agent,
  { method, path, body, idempotencyKey }: Ask,
): Promise<number> {
  const text = body === undefined ? null : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    ...(text !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  }
  return new Promise((resolve, reject) => {
    const begun = performance.now()
    const { hostname, port } = base
    request({ agent, hostname, port, path, method, headers }, response => {
      const { statusCode = 0 } = response
      const body: Buffer[] = []
      if (statusCode >= 300) response.on('data', chunk => body.push(chunk))
      response.resume().on('end', () => {
        if (statusCode < 300) return resolve(performance.now() - begun)
        reject(new Error(`${method} ${path}: ${statusCode} ${Buffer.concat(body).toString().slice(0, 300)}`))
      })
    })
      .on('error', reject)
      .end(text)
  })
}
