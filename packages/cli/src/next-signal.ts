/**
 * A terminal's Ctrl-C reaches the process twice when a launcher forwards it as well: what follows at once is the same
 * wish, what comes later is impatience.
 */
const SAME_SIGNAL_MS = 1000

/** The first SIGINT or SIGTERM; an impatient second one ends the process. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let first: number | null = null
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        first ??= performance.now()
        resolve(signal)
        if (performance.now() - first > SAME_SIGNAL_MS) process.exit(130)
      })
    }
  })
}
