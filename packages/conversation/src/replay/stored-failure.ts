import { errorsOf, ParleyError } from '@parley/kernel'

/** An error of a service as a log has it; `code` null: it was no `ParleyError`. */
export interface StoredFailure {
  readonly code: string | null
  readonly message: string
  readonly retryable: boolean
}

export function failureOf(error: unknown): StoredFailure {
  if (error instanceof ParleyError) return { code: error.code, message: error.message, retryable: error.retryable }
  return { code: null, message: error instanceof Error ? error.message : String(error), retryable: false }
}

/** The error that was stored; one without a code is `internal`. */
export function errorOf({ code, message, retryable }: StoredFailure): ParleyError {
  const StoredError = errorsOf({ [code ?? 'internal']: { retryable, text: message } })
  return new StoredError(code ?? 'internal', message, { retryable })
}
