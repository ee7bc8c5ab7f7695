interface ApiError {
  /** HTTP status. */
  readonly status: number
  /** Whether the same request may succeed later, unchanged. */
  readonly retryable: boolean
  /** What the code means. */
  readonly text: string
  /** Values of `details.reason`. Later versions may add some. */
  readonly reasons: readonly string[]
  /** Reasons with the opposite of `retryable`. */
  readonly exceptions?: readonly string[]
}

/** Every error code of the API. */
export const API_ERRORS = {
  invalid_request: {
    status: 400,
    retryable: false,
    text: 'The request does not match the API document.',
    reasons: [
      'body_too_large',
      'invalid_cursor',
      'edit_not_applicable',
      'webhook_mismatch',
      'secret_not_found',
      'provider_key_rejected',
      'address_not_allowed',
    ],
  },
  unauthenticated: {
    status: 401,
    retryable: false,
    text: 'The request has no valid key.',
    reasons: [],
  },
  forbidden: {
    status: 403,
    retryable: false,
    text: 'The role of the key does not permit this operation.',
    reasons: ['role', 'can_dial', 'production_only', 'origin_not_allowed'],
  },
  policy_denied: {
    status: 403,
    retryable: false,
    text: 'A policy of the environment forbids the operation.',
    reasons: ['spend_cap', 'destination_not_allowed', 'listening_disabled'],
  },
  not_found: {
    status: 404,
    retryable: false,
    text: 'No resource has this id in this environment.',
    reasons: [],
  },
  conflict: {
    status: 409,
    retryable: false,
    text: 'The state of the resource does not permit the operation.',
    reasons: [
      'in_progress',
      'stale_revision',
      'draft_has_changes',
      'draft_exists',
      'nothing_to_clone',
      'agent_exists',
      'agent_archived',
      'agent_not_published',
      'test_publication',
      'trunk_exists',
      'trunk_in_use',
      'trunk_not_inbound',
      'number_exists',
      'secret_in_use',
      'kind_mismatch',
      'key_revoked',
      'already_member',
      'invitation_pending',
      'last_admin',
      'preview_consumed',
      'limit_reached',
      'turn_in_progress',
      'not_uncertain',
      'web_call_over',
      'gate_pending',
      'gate_failed',
      'inputs_missing',
      'redacted',
    ],
    exceptions: ['in_progress', 'turn_in_progress', 'gate_pending'],
  },
  idempotency_conflict: {
    status: 409,
    retryable: false,
    text: 'The idempotency key belongs to another request.',
    reasons: [],
  },
  run_not_active: {
    status: 409,
    retryable: false,
    text: 'The run has ended.',
    reasons: ['run_ended'],
  },
  capability_unavailable: {
    status: 409,
    retryable: false,
    text: 'Something that the operation needs is missing or not ready.',
    reasons: [
      'unsupported_capability',
      'tenant_not_configured',
      'admission_disabled',
      'pricing_not_installed',
      'channel_not_supported',
      'livekit_not_configured',
      'mode_not_supported',
      'telephony_missing',
      'trunk_unavailable',
      'number_unavailable',
      'secret_unavailable',
      'model_not_ready',
      'voice_not_ready',
      'signing_secret_missing',
      'destination_not_configured',
      'web_call_unanswered',
      'gate_suite_missing',
    ],
  },
  publication_invalid: {
    status: 422,
    retryable: false,
    text: 'The draft has errors.',
    reasons: ['invalid_draft', 'model_binding_required'],
  },
  rate_limited: {
    status: 429,
    retryable: true,
    text: 'A rate or capacity limit was reached.',
    reasons: ['request_rate', 'daily_call_limit', 'concurrent_capacity', 'streams', 'site_key_limit'],
  },
  internal: {
    status: 500,
    retryable: true,
    text: 'Parley had an internal error.',
    reasons: [],
  },
  provider_unavailable: {
    status: 503,
    retryable: true,
    text: 'An external service does not respond.',
    reasons: [],
  },
  knowledge_unavailable: {
    status: 503,
    retryable: true,
    text: 'The document search is not available.',
    reasons: ['not_configured', 'no_generation'],
    exceptions: ['not_configured'],
  },
  outcome_unknown: {
    status: 504,
    retryable: true,
    text: 'The effect may have happened: repeat the request with the same idempotency key.',
    reasons: [],
  },
} as const satisfies Readonly<Record<string, ApiError>>

export type ErrorCode = keyof typeof API_ERRORS

export const ERROR_CODES = Object.keys(API_ERRORS) as [ErrorCode, ...ErrorCode[]]

export type ErrorReason<Code extends ErrorCode = ErrorCode> = (typeof API_ERRORS)[Code]['reasons'][number]

/** The error codes and reasons that an operation may respond with. */
export type Refusals = { readonly [Code in ErrorCode]?: readonly ErrorReason<Code>[] }

/** Whether the same request may succeed later, unchanged. */
export function isRetryable(code: ErrorCode, reason?: ErrorReason): boolean {
  const { retryable, exceptions = [] }: ApiError = API_ERRORS[code]
  return reason !== undefined && exceptions.includes(reason) ? !retryable : retryable
}
