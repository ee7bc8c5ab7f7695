import type { Ms } from '@parley/kernel'

/** Ctrl-C reaches the process twice if a launcher forwards it as well: the same signal within this time counts once. */
const SAME_SIGNAL_MS: Ms = 1000

type StopSignal = 'SIGINT' | 'SIGTERM'

/** What the signals so far ask for: nothing, an end after the live calls, an end now, an exit without closing anything. */
type StopStep = 'none' | 'drain' | 'end' | 'exit'

const STEPS: readonly StopStep[] = ['none', 'drain', 'end', 'exit']

/** SIGTERM asks for a drain and SIGINT for an end now; each further signal asks for the next step. */
export class StopSteps {
  #step = 0
  #last: { readonly signal: StopSignal; readonly at: Ms } | null = null

  receive(signal: StopSignal, now: Ms): StopStep {
    const isRepeated = this.#last?.signal === signal && now < this.#last.at + SAME_SIGNAL_MS
    if (!isRepeated) {
      this.#last = { signal, at: now }
      this.#step = Math.min(STEPS.length - 1, Math.max(this.#step + 1, signal === 'SIGINT' ? 2 : 1))
    }
    return STEPS[this.#step]!
  }
}

interface StopSignals {
  /** Resolves with the first SIGINT or SIGTERM. */
  readonly first: Promise<StopSignal>
  /** Resolves when live calls must end at once. */
  readonly end: Promise<void>
}

/** Listens for signals from now on. The last step ends the process with code 130; its exit handlers run. */
export function stopSignals(): StopSignals {
  const first = Promise.withResolvers<StopSignal>()
  const end = Promise.withResolvers<void>()
  const steps = new StopSteps()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const step = steps.receive(signal, performance.now())
      first.resolve(signal)
      if (step !== 'drain') end.resolve()
      if (step === 'exit') process.exit(130)
    })
  }
  return { first: first.promise, end: end.promise }
}

/** Until the returned function is called, SIGINT and SIGTERM end the process with code 130; its exit handlers run. */
export function exitOnSignal(): () => void {
  const exit = () => process.exit(130)
  process.on('SIGINT', exit)
  process.on('SIGTERM', exit)
  return () => {
    process.off('SIGINT', exit)
    process.off('SIGTERM', exit)
  }
}
