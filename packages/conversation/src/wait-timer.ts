import type { Ms, Time } from '@parley/kernel'

type WaitedFor = 'model' | 'action'

interface Wait {
  open: number
  since: Ms
  total: Ms
}

/** How long the caller has waited for a model and for actions since their last turn; waits that overlap count once. */
export class WaitTimer {
  readonly #time: Time
  readonly #waits: Record<WaitedFor, Wait>

  constructor(time: Time) {
    this.#time = time
    const none = () => ({ open: 0, since: 0, total: 0 })
    this.#waits = { model: none(), action: none() }
  }

  /** The caller had a turn: counting begins again, also for what is under way. */
  turn(): void {
    for (const wait of Object.values(this.#waits)) {
      wait.total = 0
      wait.since = this.#time.now()
    }
  }

  /** Something is waited for until the returned function is called; calling it again does nothing. */
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
