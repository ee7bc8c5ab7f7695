import { createHmac } from 'node:crypto'
import { ExampleServer } from '@parley/examples'
import { keptSecret } from './kept-secret.ts'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'

/** Where the actions and webhooks of a home's examples go. */
export interface ExampleServerOf {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** Ends it where this process opened it. Idempotent. */
  close(): Promise<void>
}

const PROBE_WITHIN_MS = 2000

/**
 * The server that the examples' actions go to: on the port it had before, so that what was published still reaches it. Where
 * another process of this home has it open already, that one: a second one would be published in its place, and be gone
 * with its process. On any other port where a stranger has taken it.
 */
export async function exampleServerOf(home: string): Promise<ExampleServerOf> {
  const { port } = await readSeedRecord(home)
  const webhookSecret = await webhookSecretOf(home)
  if (port !== null)
    try {
      return await ExampleServer.open({ webhookSecret, port })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      const origin = `http://127.0.0.1:${port}`
      if (await knowsSecret(origin, webhookSecret)) return { origin, close: async () => {} }
    }
  const server = await ExampleServer.open({ webhookSecret })
  const latest = await readSeedRecord(home)
  await writeSeedRecord(home, { ...latest, port: Number(new URL(server.origin).port) })
  return server
}

/** What the examples' agents sign with, and their server checks. */
export function webhookSecretOf(home: string): Promise<string> {
  return keptSecret(home, 'demo-webhook-secret')
}

/** A webhook without an event is refused as such (400) by whoever takes its signature, and nothing is kept of it. */
async function knowsSecret(origin: string, secret: string): Promise<boolean> {
  const sentAt = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', secret).update(`${sentAt}.{}`).digest('hex')
  try {
    const answer = await fetch(`${origin}/webhooks/`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', 'parley-signature': `t=${sentAt},v1=${signature}` },
      body: '{}',
      signal: AbortSignal.timeout(PROBE_WITHIN_MS),
    })
    const about = await answer.json()
    return answer.status === 400 && (about as { message?: unknown }).message === 'A webhook has an event_id.'
  } catch {
    return false
  }
}
