import { parseDigits, skipSpace } from './characters.ts'
import { parseParams } from './params.ts'

/** RFC 3261 section 20.33. */
interface RetryAfter {
  readonly seconds: number
  readonly comment: string | undefined
  /** How long the callee will be reachable, seconds. */
  readonly duration: number | undefined
}

/** `120 (I'm in a meeting);duration=3600`. Undefined when malformed or longer than 2^32-1 seconds. */
export function parseRetryAfter(value: string): RetryAfter | undefined {
  const digits = /^[0-9]{1,10}(?=[ \t(;]|$)/.exec(value)?.[0] ?? ''
  const seconds = parseDigits(digits, 10)
  if (seconds === undefined || seconds > 2 ** 32 - 1) return undefined
  let i = skipSpace(value, digits.length)
  let comment: string | undefined
  if (value.charCodeAt(i) === 0x28) {
    const close = value.lastIndexOf(')')
    if (close === -1) return undefined
    comment = value.slice(i + 1, close)
    i = close + 1
  }
  const params = parseParams(value, i)
  if (params === undefined) return undefined
  return { seconds, comment, duration: parseDigits(params.get('duration') ?? '', 10) }
}
