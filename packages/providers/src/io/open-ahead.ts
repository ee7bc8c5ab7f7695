import { setImmediate } from 'node:timers/promises'
import type { Ms } from '@parley/kernel'
import type { Pool } from 'undici'
import { HttpExchange } from './http-exchange.ts'

/**
 * Opens a connection in advance by an empty request, unless one is idle; resolves when it is idle. Failures are ignored,
 * because the next request reports them.
 */
export async function openAhead(pool: Pool, timeoutMs: Ms): Promise<void> {
  if (pool.stats.free > 0) return
  const exchange = new HttpExchange(() => {})
  try {
    // Not HEAD: undici closes a connection after it.
    pool.dispatch({ path: '/', method: 'OPTIONS', headersTimeout: timeoutMs }, exchange)
    for (let piece = await exchange.next(); piece.type !== 'end'; piece = await exchange.next());
    // undici counts a connection as idle in the next turn of the event loop.
    await setImmediate()
  } catch {
    // The next request opens a connection of its own.
  }
}
