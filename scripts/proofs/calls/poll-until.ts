import { setTimeout as pause } from 'node:timers/promises'

/** Calls `look` until its result is not null, for `ms` at most. Returns the result; null: it was null all the time. */
export async function pollUntil<Found>(ms: number, look: () => Promise<Found | null>): Promise<Found | null> {
  const giveUpAt = performance.now() + ms
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (performance.now() > giveUpAt) return null
    await pause(50)
  }
}
