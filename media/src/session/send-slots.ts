import type { Ms } from '@parley/kernel'

/** Media threads wake on this grid. */
export const WAKE_MS: Ms = 2.5
/** Number of slots in 20 ms: a call sends in one of them and keeps it. */
export const SEND_SLOTS = 8
/** While there are fewer calls, new ones have every other slot: a wake then has twice the calls to share its cost. */
const CALLS_OF_EVERY_SLOT = 400

/** One call's place in the grid. Times are counted in wakes (quanta of 2.5 ms) since the thread's grid began. */
export interface SendSlot<Owner> {
  readonly owner: Owner
  readonly ptimeMs: Ms
  /** 0 to 7. */
  readonly slot: number
  readonly periodWakes: number
  nextWake: number
}

/**
 * Spreads calls over slots per 20 ms, eight or, of up to 400 calls, four, so that the last of a thousand packets is not late because the
 * others go first. A call keeps its slot; a new one takes the emptiest. A packet time other than 20 ms runs on its own grid of that period,
 * starting in the slot (30 ms alternates between two slots).
 */
export class SendSlots<Owner> {
  readonly #load = new Float64Array(SEND_SLOTS)
  readonly #entries: SendSlot<Owner>[][] = Array.from({ length: SEND_SLOTS }, () => [])
  #lastWake: number
  #count = 0

  constructor(wake = 0) {
    this.#lastWake = wake
  }

  get count(): number {
    return this.#count
  }

  /** The slots up to `wake` were swept by another, the native path. */
  pass(wake: number): void {
    this.#lastWake = Math.max(this.#lastWake, wake)
  }

  /** `ptimeMs` is 10 to 60 in steps of 10. The first slot comes after the wake that was last swept. */
  add(owner: Owner, ptimeMs: Ms): SendSlot<Owner> {
    const periodWakes = Math.round(ptimeMs / WAKE_MS)
    let slot = 0
    let least = Number.POSITIVE_INFINITY
    const step = this.#count < CALLS_OF_EVERY_SLOT ? 2 : 1
    for (let candidate = 0; candidate < SEND_SLOTS; candidate += step) {
      const load = this.#load[candidate]! + (visitsBoth(periodWakes) ? this.#load[opposite(candidate)]! : 0)
      if (load < least) {
        least = load
        slot = candidate
      }
    }
    const after = this.#lastWake + 1
    const nextWake = after + ((slot - (after % SEND_SLOTS) + SEND_SLOTS) % SEND_SLOTS)
    const entry: SendSlot<Owner> = { owner, ptimeMs, slot, periodWakes, nextWake }
    this.#account(entry, 1)
    this.#entries[slot]!.push(entry)
    if (visitsBoth(periodWakes)) this.#entries[opposite(slot)]!.push(entry)
    this.#count++
    return entry
  }

  remove(entry: SendSlot<Owner>): void {
    const list = this.#entries[entry.slot]!
    const at = list.indexOf(entry)
    if (at < 0) return
    list.splice(at, 1)
    if (visitsBoth(entry.periodWakes)) {
      const other = this.#entries[opposite(entry.slot)]!
      other.splice(other.indexOf(entry), 1)
    }
    this.#account(entry, -1)
    this.#count--
  }

  /**
   * Calls `send` once for every call that has a slot after the last sweep and up to `wake`, with the call's newest slot; earlier
   * ones are not sent, and `missed` is their number.
   */
  sweep(wake: number, send: (owner: Owner, slotWake: number, missed: number) => void): void {
    const first = Math.max(this.#lastWake + 1, wake - SEND_SLOTS + 1)
    this.#lastWake = Math.max(this.#lastWake, wake)
    for (let w = first; w <= wake; w++) {
      const list = this.#entries[w % SEND_SLOTS]!
      for (let i = 0; i < list.length; i++) {
        const entry = list[i]!
        if (entry.nextWake > wake) continue
        const missed = Math.floor((wake - entry.nextWake) / entry.periodWakes)
        const slotWake = entry.nextWake + missed * entry.periodWakes
        entry.nextWake = slotWake + entry.periodWakes
        send(entry.owner, slotWake, missed)
      }
    }
  }

  #account(entry: SendSlot<Owner>, sign: number): void {
    const share = (sign * SEND_SLOTS) / entry.periodWakes
    if (visitsBoth(entry.periodWakes)) {
      this.#load[entry.slot]! += share / 2
      this.#load[opposite(entry.slot)]! += share / 2
    } else {
      this.#load[entry.slot]! += share
    }
  }
}

/** Whether a period has an odd number of 10 ms: it alternates between its slot and the one 10 ms away. */
function visitsBoth(periodWakes: number): boolean {
  return periodWakes % SEND_SLOTS !== 0
}

function opposite(slot: number): number {
  return (slot + SEND_SLOTS / 2) % SEND_SLOTS
}
