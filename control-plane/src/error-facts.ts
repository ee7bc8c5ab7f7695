import { ParleyError } from '@parley/kernel'

const MAX_TEXT = 2000
const MAX_CAUSES = 4
const SECRET = /parley_(live|test)_[0-9A-Za-z]+/g

/** The parts of an error that are logged. Other members are not, since libraries attach rows and parameters to errors. */
interface ErrorFacts {
  readonly name: string
  readonly code?: string
  readonly message: string
  readonly stack?: string
  readonly cause?: ErrorFacts
}

/** Masks API keys in every text, cuts texts at 2000 characters and keeps at most four causes. */
export function errorFacts(error: unknown, depth = 0): ErrorFacts {
  if (!(error instanceof Error)) return { name: typeof error, message: masked(String(error)) }
  const code = error instanceof ParleyError || 'code' in error ? String(error.code) : undefined
  return {
    name: error.name,
    ...(code !== undefined && { code: masked(code) }),
    message: masked(error.message),
    ...(error.stack !== undefined && { stack: masked(error.stack) }),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: errorFacts(error.cause, depth + 1) }),
  }
}

function masked(text: string): string {
  return text.slice(0, MAX_TEXT).replaceAll(SECRET, 'parley_$1_***')
}
