import { ParleyError } from '@parley/kernel'

const MAX_TEXT = 2000
const MAX_CAUSES = 4
const SECRET = /parley_(live|test)_[0-9A-Za-z]+/g

/** What the log may know of an error: nothing but these members, since libraries hang rows and parameters on theirs. */
export interface ErrorFacts {
  readonly name: string
  readonly code?: string
  readonly message: string
  readonly stack?: string
  readonly cause?: ErrorFacts
}

/** API keys are blotted out wherever they stand; texts are cut at 2000 characters, causes after the fourth. */
export function errorFacts(error: unknown, depth = 0): ErrorFacts {
  if (!(error instanceof Error)) return { name: typeof error, message: blotted(String(error)) }
  const code = error instanceof ParleyError || 'code' in error ? String(error.code) : undefined
  return {
    name: error.name,
    ...(code !== undefined && { code: blotted(code) }),
    message: blotted(error.message),
    ...(error.stack !== undefined && { stack: blotted(error.stack) }),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: errorFacts(error.cause, depth + 1) }),
  }
}

function blotted(words: string): string {
  return words.slice(0, MAX_TEXT).replaceAll(SECRET, 'parley_$1_***')
}
