import { setTimeout as pause } from 'node:timers/promises'

/** Polls `look` every 50 ms; resolves with its first result that is not null, or with null after `ms`. */
export async function within<Found>(ms: number, look: () => Promise<Found | null>): Promise<Found | null> {
  const giveUpAt = performance.now() + ms
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (performance.now() > giveUpAt) return null
    await pause(50)
  }
}
