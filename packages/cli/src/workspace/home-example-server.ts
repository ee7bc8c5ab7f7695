import { createHmac } from 'node:crypto'
import { ExampleServer } from '@parley/examples'
import { homeSecret } from './home-secret.ts'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'

/** The server that receives the HTTP actions and webhooks of the example agents of a home. */
export interface HomeExampleServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** Closes the server if this process opened it. Idempotent. */
  close(): Promise<void>
}

const PROBE_WITHIN_MS = 2000
/** More than the calls that the built-in phone takes at once: its callers all choose alike, and all get an appointment. */
const DOCTORS = 25

/**
 * Opens the server on the port that it had before, because published agents contain its address. If another process of
 * this home has it open already, that one is used. If another program has the port, a free port is used.
 */
export async function openExampleServer(home: string): Promise<HomeExampleServer> {
  const { port } = await readSeedRecord(home)
  const webhookSecret = await webhookSecretOf(home)
  if (port !== null)
    try {
      return await ExampleServer.open({ webhookSecret, doctors: DOCTORS, port })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      const origin = `http://127.0.0.1:${port}`
      if (await acceptsSecret(origin, webhookSecret)) return { origin, close: async () => {} }
    }
  const server = await ExampleServer.open({ webhookSecret, doctors: DOCTORS })
  const latest = await readSeedRecord(home)
  await writeSeedRecord(home, { ...latest, port: Number(new URL(server.origin).port) })
  return server
}

/** The secret with which the example agents sign their webhooks. */
export function webhookSecretOf(home: string): Promise<string> {
  return homeSecret(home, 'demo-webhook-secret')
}

/** Whether the server at `origin` accepts signatures with `secret`. It refuses the test webhook, which has no event id, and stores nothing. */
async function acceptsSecret(origin: string, secret: string): Promise<boolean> {
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
    const refusal = await answer.json()
    return answer.status === 400 && (refusal as { message?: unknown }).message === 'A webhook has an event_id.'
  } catch {
    return false
  }
}
