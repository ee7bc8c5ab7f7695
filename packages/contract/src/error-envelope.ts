import { type Json, jsonObject, text } from '@parley/nodes'
import { z } from 'zod'
import { ERROR_CODES, type ErrorCode, type ErrorReason, isRetryable } from './errors.ts'

/** The body of every 4xx and 5xx answer. */
export const errorEnvelope = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(ERROR_CODES),
      message: text(0),
      retryable: z.boolean(),
      /** `unknown`: the effect may have happened; retry with the same idempotency key. */
      outcome: z.enum(['none', 'unknown']),
      /** `reason`, `issues`, `diagnostics`, `current` and other members, depending on the code. */
      details: jsonObject.optional(),
    }),
  })
  .meta({ id: 'ErrorEnvelope' })

export type ErrorEnvelope = z.output<typeof errorEnvelope>

/**
 * One item of `details.issues` of an `invalid_request`: `path` is a JSON pointer into the request part that `message`
 * names.
 */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** The envelope of a refusal. `retryable` and `outcome` follow from code and reason. */
export function envelopeOf<Code extends ErrorCode>(
  code: Code,
  message: string,
  refusal: {
    readonly reason?: ErrorReason<Code>
    readonly details?: Readonly<Record<string, Json>>
    readonly retryable?: boolean
  } = {},
): ErrorEnvelope {
  const details = { ...(refusal.reason !== undefined && { reason: refusal.reason }), ...refusal.details }
  return {
    error: {
      code,
      message,
      retryable: refusal.retryable ?? isRetryable(code, refusal.reason),
      outcome: code === 'outcome_unknown' ? 'unknown' : 'none',
      ...(Object.keys(details).length > 0 && { details }),
    },
  }
}
