import type { CarrierLedgerEntry } from './ledger-entry.ts'
import { LedgerQueries } from './ledger-queries.ts'

interface CarrierLedgerOptions {
  /** Rows kept in memory for queries; default 1,000,000. Later ones only go to `sink`, and `overflowed` says how many. */
  readonly keep?: number
  /** Gets every row, in the order they are appended. */
  readonly sink?: (entry: CarrierLedgerEntry) => void
}

const KEPT_ROWS = 1_000_000

/** Append-only record of the messages and media of a carrier. */
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
      // The calls continue; closing the ledger reports the error.
      this.#failure ??= error
    }
  }

  /** The first error of `sink`; null: it has every row. */
  get failure(): unknown {
    return this.#failure
  }

  get entries(): readonly CarrierLedgerEntry[] {
    return this.#entries
  }

  /** Rows that are not in memory: if it is not 0, queries would see only the first rows. */
  get overflowed(): number {
    return this.#overflowed
  }

  /** Queries over the current rows. Throws RangeError if some are not in memory: read the file instead. */
  query(): LedgerQueries {
    if (this.#overflowed > 0)
      throw new RangeError(`${this.#overflowed} rows are only in the ledger's file; query the file instead`)
    return new LedgerQueries(this.#entries)
  }
}
