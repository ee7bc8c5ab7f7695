import type { Queries } from '@parley/store'

/** A write that travels with the COMMIT of an operation, after its audit item and its answer. */
export interface LastWrite {
  /** Begins its statements at once. When it fails, nothing of the operation is stored. */
  write(tx: Queries): Promise<void>
  /** The error of the request when the transaction failed with `error` and was rolled back. */
  explain(error: unknown, db: Queries): Promise<unknown>
}

/** Waits for writes that were begun together. Throws the error of the first that failed, in their order. */
export async function allWritten(writes: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(writes)) if (outcome.status === 'rejected') throw outcome.reason
}
