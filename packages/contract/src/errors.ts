/** HTTP status by error code. */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  policy_denied: 403,
  not_found: 404,
  conflict: 409,
  idempotency_conflict: 409,
  run_not_active: 409,
  capability_unavailable: 409,
  publication_invalid: 422,
  rate_limited: 429,
  internal: 500,
  provider_unavailable: 503,
  knowledge_unavailable: 503,
  outcome_unknown: 504,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

export const ERROR_CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]

/** What `details.reason` says, by error code. A code without reasons has an empty list. More may come. */
export const ERROR_REASONS = {
  invalid_request: [
    'body_too_large',
    'invalid_cursor',
    'edit_not_applicable',
    'webhook_mismatch',
    'secret_not_found',
    'provider_key_rejected',
    'address_not_allowed',
  ],
  unauthenticated: [],
  forbidden: ['role', 'can_dial', 'production_only'],
  policy_denied: ['spend_cap', 'destination_not_allowed'],
  not_found: [],
  conflict: [
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
  ],
  idempotency_conflict: [],
  run_not_active: ['run_ended'],
  capability_unavailable: [
    'unsupported_capability',
    'tenant_not_configured',
    'admission_disabled',
    'pricing_not_installed',
    'channel_not_supported',
    'mode_not_supported',
    'telephony_missing',
    'trunk_unavailable',
    'number_unavailable',
    'secret_unavailable',
    'model_not_ready',
    'voice_not_ready',
    'signing_secret_missing',
    'destination_not_configured',
  ],
  publication_invalid: ['invalid_draft', 'model_binding_required'],
  rate_limited: ['request_rate', 'daily_call_limit', 'concurrent_capacity', 'streams'],
  internal: [],
  provider_unavailable: [],
  knowledge_unavailable: ['not_configured', 'no_generation'],
  outcome_unknown: [],
} as const satisfies Record<ErrorCode, readonly string[]>

export type ErrorReason<Code extends ErrorCode = ErrorCode> = (typeof ERROR_REASONS)[Code][number]

/** With which codes, and for which reasons, an operation may refuse. */
export type Refusals = { readonly [Code in ErrorCode]?: readonly ErrorReason<Code>[] }

const RETRYABLE: ReadonlySet<string> = new Set<ErrorCode>([
  'rate_limited',
  'provider_unavailable',
  'knowledge_unavailable',
  'outcome_unknown',
  'internal',
])
const RETRYABLE_CONFLICTS: ReadonlySet<string> = new Set<ErrorReason>(['in_progress', 'turn_in_progress'])

/** Whether the same request may succeed later, unchanged. */
export function isRetryable(code: ErrorCode, reason?: ErrorReason): boolean {
  if (code === 'conflict') return reason !== undefined && RETRYABLE_CONFLICTS.has(reason)
  return RETRYABLE.has(code) && !(code === 'knowledge_unavailable' && reason === 'not_configured')
}
