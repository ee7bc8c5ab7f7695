import { Agent, request } from 'node:http'
import type { Ask } from './messages.ts'

/** What a burst of requests came to. */
export interface Burst {
  readonly perSecond: number
  /** How long each took, in ms. */
  readonly tookMs: readonly number[]
}

/** Asks `count` times with `atOnce` connections; rejects at the first answer that is no 2xx. */
export async function burst(url: string, key: string, count: number, atOnce: number, next: () => Ask): Promise<Burst> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const tookMs: number[] = []
  let left = count
  const begun = performance.now()
  const worker = async () => {
    while (left-- > 0) tookMs.push(await one(new URL(url), key, agent, next()))
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, worker))
  } finally {
    agent.destroy()
  }
  return { perSecond: (count * 1000) / (performance.now() - begun), tookMs }
}

function one(base: URL, key: string, agent: Agent, ask: Ask): Promise<number> {
  const body = ask.body === undefined ? null : JSON.stringify(ask.body)
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...(ask.idempotencyKey !== undefined && { 'idempotency-key': ask.idempotencyKey }),
  }
  return new Promise((resolve, reject) => {
    const begun = performance.now()
    const { hostname, port } = base
    request({ agent, hostname, port, path: ask.path, method: ask.method, headers }, response => {
      const { statusCode = 0 } = response
      const said: Buffer[] = []
      if (statusCode >= 300) response.on('data', chunk => said.push(chunk))
      response.resume().on('end', () => {
        if (statusCode < 300) return resolve(performance.now() - begun)
        reject(new Error(`${ask.method} ${ask.path}: ${statusCode} ${Buffer.concat(said).toString().slice(0, 300)}`))
      })
    })
      .on('error', reject)
      .end(body)
  })
}
