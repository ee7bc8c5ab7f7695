/**
 * The one error shape: `code` is stable and snake_case, `retryable` says whether the same attempt may succeed later,
 * `message` names what is wrong and what to do about it.
 */
export class ParleyError extends Error {
  readonly code: string
  readonly retryable: boolean

  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.retryable = options.retryable ?? false
  }
}
