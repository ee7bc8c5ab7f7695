import { errorsOf } from '@parley/kernel'
import type { Json } from '@parley/nodes'
import { type ErrorEnvelope, envelopeOf } from './error-envelope.ts'
import { API_ERRORS, type ErrorCode, type ErrorReason, isRetryable } from './errors.ts'

interface Particulars<Code extends ErrorCode> {
  readonly reason?: ErrorReason<Code>
  readonly details?: Readonly<Record<string, Json>>
  readonly cause?: unknown
  /** Whether the same request may succeed later. Default: that of the code and the reason. */
  readonly retryable?: boolean
}

const ContractError = errorsOf(API_ERRORS)

/**
 * A refusal by an operation. Its code, message and details become the error envelope unchanged; the message says what
 * is wrong and how to correct it.
 */
export class Refusal<Code extends ErrorCode = ErrorCode> extends ContractError {
  declare readonly code: Code
  readonly reason: ErrorReason<Code> | undefined
  readonly envelope: ErrorEnvelope

  constructor(code: Code, message: string, particulars: Particulars<Code> = {}) {
    const { reason, details, cause, retryable = isRetryable(code, reason) } = particulars
    super(code, message, { retryable, cause })
    this.name = 'Refusal'
    this.reason = reason
    this.envelope = envelopeOf(code, message, {
      ...(reason !== undefined && { reason }),
      ...(details !== undefined && { details }),
      retryable,
    })
  }
}
