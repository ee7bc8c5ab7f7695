import type { Database } from '@parley/store'
import type { FastifyInstance } from 'fastify'

/** How long the result of a ping is reused, so that many requests for the readiness cause few queries. */
const PING_CACHE_MS = 500

/** Whether the server should receive requests: the database answers and the server is not draining. */
export class Readiness {
  readonly #database: Pick<Database, 'ping'>
  #draining = false
  #lastPing: { readonly at: number; readonly answers: Promise<boolean> } | null = null

  constructor(database: Pick<Database, 'ping'>) {
    this.#database = database
  }

  get isDraining(): boolean {
    return this.#draining
  }

  drain(): void {
    this.#draining = true
  }

  /** Why the server is not ready; empty when it is. */
  async reasons(): Promise<('draining' | 'database_unavailable')[]> {
    // A draining server does not wait for a database that may be unavailable.
    if (this.#draining) return ['draining']
    const now = performance.now()
    if (this.#lastPing === null || now - this.#lastPing.at > PING_CACHE_MS) {
      const answers = this.#database.ping().then(
        () => true,
        () => false,
      )
      this.#lastPing = { at: now, answers }
    }
    const answers = await this.#lastPing.answers
    return this.#draining ? ['draining'] : answers ? [] : ['database_unavailable']
  }
}

/** Serves `/healthz`: 200 while the process runs; and `/readyz`: 200, or 503 with the reasons. */
export function serveHealth(app: FastifyInstance, readiness: Readiness): void {
  const config = { operation: 'health' }
  app.get('/healthz', { config }, async () => ({ status: 'ok' }))
  app.get('/readyz', { config }, async (_, reply) => {
    const reasons = await readiness.reasons()
    return reply.code(reasons.length === 0 ? 200 : 503).send({ ready: reasons.length === 0, reasons })
  })
}
