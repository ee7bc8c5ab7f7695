import type { Ms, Time } from '@parley/kernel'

type WaitedFor = 'model' | 'action'

interface Wait {
  open: number
  since: Ms
  total: Ms
}

/** Measures how long the caller has waited for the model and for actions since their last turn; overlapping waits count once. */
export class WaitTimer {
  readonly #time: Time
  readonly #waits: Record<WaitedFor, Wait>

  constructor(time: Time) {
    this.#time = time
    const none = () => ({ open: 0, since: 0, total: 0 })
    this.#waits = { model: none(), action: none() }
  }

  /** Restarts counting at a caller turn, also for waits in progress. */
  turn(): void {
    for (const wait of Object.values(this.#waits)) {
      wait.total = 0
      wait.since = this.#time.now()
    }
  }

  /** Starts a wait that lasts until the returned function is called; further calls do nothing. */
  begin(what: WaitedFor): () => void {
    const wait = this.#waits[what]
    if (wait.open++ === 0) wait.since = this.#time.now()
    let open = true
    return () => {
      if (!open) return
      open = false
      if (--wait.open === 0) wait.total += this.#time.now() - wait.since
    }
  }

  spent(what: WaitedFor): Ms {
    const { open, since, total } = this.#waits[what]
    return open === 0 ? total : total + this.#time.now() - since
  }
}
