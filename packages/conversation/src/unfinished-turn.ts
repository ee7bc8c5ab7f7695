import type { HttpAction } from '@parley/flow'
import type { Ms, Time } from '@parley/kernel'

/** Longest wait of an action. */
const LONGEST_HOLD_MS: Ms = 2000

interface OpenTurn {
  readonly text: string
  /** Takes back everything that the turn caused. */
  readonly undo: () => void
  isSettled: boolean
  /** What was done since the turn and cannot be taken back: names of irreversible actions, keys, transfers. */
  readonly sent: string[]
  readonly held: Set<(mayBeSent: boolean) => void>
}

/** What becomes of a turn when the caller goes on after it. */
type Continued =
  /** The turn was taken back; the next turn begins with its words. */
  | { readonly type: 'joined' }
  /** Irreversible things were already done. */
  | { readonly type: 'too-late'; readonly sent: readonly string[] }

/**
 * The caller's last turn, while it can be taken back. After one that looks unfinished, irreversible actions wait until the caller has
 * been silent, at most 2 s; when the caller goes on first, they are superseded and the turn is taken back. After a complete one nothing
 * waits; it is taken back when the caller corrects it before such an action was sent. Keys that were pressed, transfers and messages
 * are not taken back either, and do not wait.
 */
export class UnfinishedTurn {
  readonly #time: Time
  #open: OpenTurn | null = null
  /** Words of a turn that was taken back. */
  #prefix = ''

  constructor(time: Time) {
    this.#time = time
  }

  /** A turn with these words, joined with those of a turn that was taken back. */
  joined(text: string): string {
    const joined = [this.#prefix, text].filter(part => part !== '').join(' ')
    this.#prefix = ''
    return joined
  }

  /** The caller's turn can be taken back. `isComplete`: it does not look unfinished. */
  begin(text: string, undo: () => void, isComplete: boolean): void {
    this.close()
    this.#open = { text, undo, isSettled: isComplete, sent: [], held: new Set() }
  }

  /** The turn is over: a newer one came, or the caller has heard the agent's answer. */
  close(): void {
    const open = this.#open
    this.#open = null
    if (open !== null) release(open, true)
  }

  /** Whether the caller has been silent for long enough. */
  settled(isSettled: boolean): void {
    if (this.#open === null) return
    this.#open.isSettled = isSettled
    if (isSettled) release(this.#open, true)
  }

  /** The caller goes on. Null: the turn cannot be taken back. */
  continued(): Continued | null {
    const open = this.#open
    this.#open = null
    if (open === null) return null
    release(open, false)
    if (open.sent.length > 0) return { type: 'too-late', sent: open.sent }
    open.undo()
    this.#prefix = open.text
    return { type: 'joined' }
  }

  /** Something was done that cannot be taken back: `what` is told to the model when the caller goes on. */
  acted(what: string): void {
    this.#open?.sent.push(what)
  }

  /** When the action may be sent; null: at once. */
  hold(action: HttpAction): Promise<boolean> | null {
    const open = this.#open
    if (open === null || action.method === 'GET' || action.reversible === true) return null
    if (open.isSettled) {
      open.sent.push(action.name)
      return null
    }
    return new Promise(resolve => {
      const decide = (mayBeSent: boolean) => {
        timer.cancel()
        open.held.delete(decide)
        if (mayBeSent) open.sent.push(action.name)
        resolve(mayBeSent)
      }
      const timer = this.#time.at(this.#time.now() + LONGEST_HOLD_MS, () => decide(true))
      open.held.add(decide)
    })
  }
}

function release({ held }: OpenTurn, mayBeSent: boolean): void {
  for (const decide of [...held]) decide(mayBeSent)
}
