import type { CarrierLedgerEntry } from './ledger-entry.ts'
import { LedgerQueries } from './ledger-queries.ts'

interface CarrierLedgerOptions {
  /** Rows kept in memory for queries; default 1,000,000. Later ones only go to `sink`, and `overflowed` says how many. */
  readonly keep?: number
  /** Gets every row, in the order they are appended. */
  readonly sink?: (entry: CarrierLedgerEntry) => void
}

const KEPT_ROWS = 1_000_000

/** What a carrier saw, append-only. */
export class CarrierLedger {
  readonly #keep: number
  readonly #sink: ((entry: CarrierLedgerEntry) => void) | undefined
  readonly #entries: CarrierLedgerEntry[] = []
  #overflowed = 0
  #failure: unknown = null

  constructor(options: CarrierLedgerOptions = {}) {
    this.#keep = options.keep ?? KEPT_ROWS
    this.#sink = options.sink
  }

  append(entry: CarrierLedgerEntry): void {
    if (this.#entries.length < this.#keep) this.#entries.push(entry)
    else this.#overflowed++
    try {
      this.#sink?.(entry)
    } catch (error) {
      // The calls go on; whoever closes the ledger hears of it.
      this.#failure ??= error
    }
  }

  /** What first went wrong with `sink`; null: it has every row. */
  get failure(): unknown {
    return this.#failure
  }

  get entries(): readonly CarrierLedgerEntry[] {
    return this.#entries
  }

  /** Rows that are not in memory: while this is not 0, queries see only the beginning. */
  get overflowed(): number {
    return this.#overflowed
  }

  /** Questions about the rows as of now. Throws RangeError when some are not in memory: ask the file instead. */
  query(): LedgerQueries {
    if (this.#overflowed > 0) throw new RangeError(`${this.#overflowed} rows are only in the ledger's file`)
    return new LedgerQueries(this.#entries)
  }
}
