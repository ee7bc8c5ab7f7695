/**
 * The one error shape: `code` is stable and snake_case, `retryable` says whether the same attempt may succeed later,
 * `message` names what is wrong and what to do about it.
 */
export class ParleyError<Code extends string = string> extends Error {
  readonly code: Code
  readonly retryable: boolean

  constructor(code: Code, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.retryable = options.retryable ?? false
  }
}

/** What is known of an error code wherever it is thrown. */
interface ErrorEntry {
  /** Whether the same attempt may succeed later. */
  readonly retryable: boolean
  /** What the code means, and the message of an error that brings none of its own. */
  readonly text: string
}

/** The errors of one room: only the codes of its table can be thrown. */
interface RoomErrors<Code extends string> {
  /** `retryable` is the table's unless the options say otherwise. */
  new (code: Code, message?: string, options?: { retryable?: boolean; cause?: unknown }): ParleyError<Code>
  /** Whether something that was thrown has one of these codes; without codes: any code of the room. */
  is<Wanted extends Code>(error: unknown, ...codes: readonly Wanted[]): error is ParleyError<Wanted>
}

/** The union of the codes of a room, from the class of its errors. */
export type CodeOf<Errors> = Errors extends RoomErrors<infer Code> ? Code : never

/** The class of a room's errors, from the table of their codes. */
export function errorsOf<const Code extends string>(table: Readonly<Record<Code, ErrorEntry>>): RoomErrors<Code> {
  return class extends ParleyError<Code> {
    constructor(code: Code, message?: string, options: { retryable?: boolean; cause?: unknown } = {}) {
      super(code, message ?? table[code].text, { ...table[code], ...options })
      this.name = ParleyError.name
    }

    static is<Wanted extends Code>(error: unknown, ...codes: readonly Wanted[]): error is ParleyError<Wanted> {
      if (!(error instanceof ParleyError)) return false
      return codes.length === 0 ? Object.hasOwn(table, error.code) : (codes as readonly string[]).includes(error.code)
    }
  }
}
