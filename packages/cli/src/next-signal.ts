/**
 * Ctrl-C reaches the process twice if a launcher forwards it as well. A second signal within this time is therefore taken as
 * the same one.
 */
const SAME_SIGNAL_MS = 1000

/** Resolves with the first SIGINT or SIGTERM. A second one, after a second or more, ends the process with code 130. */
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
