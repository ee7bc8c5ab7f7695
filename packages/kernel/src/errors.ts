/** Options of an error; they replace what the table says of its code. */
interface ErrorOptions {
  /** Default: that of the table. */
  readonly retryable?: boolean
  readonly cause?: unknown
}

/** The entry of an error code in the table of its package. */
interface ErrorEntry {
  /** Whether the same attempt may succeed later. */
  readonly retryable: boolean
  /** What the code means; the message of an error that is thrown without one. */
  readonly text: string
}

/** The class of a package's errors: it throws only the codes of the package's table. */
interface ErrorsOf<Code extends string> {
  new (code: Code, message?: string, options?: ErrorOptions): ParleyError<Code>
  /** Whether `error` has one of these codes, whichever package threw it; without codes: any code of the table. */
  is<Wanted extends Code>(error: unknown, ...codes: readonly Wanted[]): error is ParleyError<Wanted>
}

/** The union of a package's error codes, from the class of its errors. */
export type CodeOf<Errors> = Errors extends ErrorsOf<infer Code> ? Code : never

/**
 * The error of all packages: `code` is stable and snake_case, `retryable` says whether the same attempt may succeed later,
 * `message` says what is wrong and what to do about it. Its constructor is private: errors are created by the classes that
 * `errorsOf` makes, so that every code stands in a table.
 */
export class ParleyError<Code extends string = string> extends Error {
  readonly code: Code
  readonly retryable: boolean

  private constructor(code: Code, message: string, { retryable = false, cause }: ErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ParleyError'
    this.code = code
    this.retryable = retryable
  }

  /** See `errorsOf`. */
  static errorsOf<const Code extends string>(table: Readonly<Record<Code, ErrorEntry>>): ErrorsOf<Code> {
    return class extends ParleyError<Code> {
      constructor(code: Code, message: string = table[code].text, options: ErrorOptions = {}) {
        super(code, message, { retryable: table[code].retryable, ...options })
      }

      static is<Wanted extends Code>(error: unknown, ...codes: readonly Wanted[]): error is ParleyError<Wanted> {
        if (!(error instanceof ParleyError)) return false
        return codes.length === 0 ? Object.hasOwn(table, error.code) : (codes as readonly string[]).includes(error.code)
      }
    }
  }
}

/** The class of a package's errors, from the table of their codes. */
export function errorsOf<const Code extends string>(table: Readonly<Record<Code, ErrorEntry>>): ErrorsOf<Code> {
  return ParleyError.errorsOf(table)
}
