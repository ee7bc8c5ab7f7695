import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A Postgres that has the extension pgvector, in a process of its own. */
interface PgliteServer {
  /** Of the superuser. */
  readonly ownerUrl: string
  stop(): Promise<void>
}

/**
 * Starts an empty PGlite. Open one pool at a time on it, of one connection, beside that of the owner (`pglite-process.ts` says why).
 * About 3 s.
 */
export async function startPglite(): Promise<PgliteServer> {
  const script = new URL('./pglite-process.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const port = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => Number(line)),
    exited.then(([code]) => Promise.reject(new Error(`PGlite ended with ${code} before it was ready`))),
  ])
  return {
    ownerUrl: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      child.stdin.end()
      await exited
    },
  }
}
