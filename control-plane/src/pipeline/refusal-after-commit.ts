import type { Refusal, Scope } from '@parley/contract'
import type { Database, Queries } from '@parley/store'

/** Thrown by a handler that refuses the request and keeps what it has written. Only for operations without an idempotency record. */
export class RefusalAfterCommit extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/**
 * A transaction that is committed also when `work` throws `RefusalAfterCommit`; the refusal is thrown after the commit.
 * `lastWrites` are sent with the COMMIT of work that did not refuse.
 */
export async function transactionOrRefusal<Result>(
  database: Pick<Database, 'transaction'>,
  scope: Scope,
  work: (tx: Queries) => Promise<Result>,
  lastWrites: (tx: Queries, result: Result) => Promise<unknown> = async () => {},
): Promise<Result> {
  const outcome = await database.transaction(
    scope,
    async (tx): Promise<{ readonly result: Result } | { readonly refusal: Refusal }> => {
      try {
        return { result: await work(tx) }
      } catch (error) {
        if (error instanceof RefusalAfterCommit) return { refusal: error.refusal }
        throw error
      }
    },
    async (tx, outcome) => 'result' in outcome && lastWrites(tx, outcome.result),
  )
  if ('refusal' in outcome) throw outcome.refusal
  return outcome.result
}
