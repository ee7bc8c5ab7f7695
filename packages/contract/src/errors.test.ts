import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { envelopeOf, errorEnvelope } from './error-envelope.ts'
import { API_ERRORS, ERROR_CODES, type ErrorCode, type ErrorReason, isRetryable } from './errors.ts'

const STATUS = {
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
}

const REASONS: Record<string, string> = {
  invalid_request:
    'body_too_large invalid_cursor edit_not_applicable webhook_mismatch secret_not_found provider_key_rejected address_not_allowed',
  conflict:
    'in_progress stale_revision draft_has_changes draft_exists nothing_to_clone agent_exists agent_archived agent_not_published test_publication trunk_exists trunk_in_use trunk_not_inbound number_exists secret_in_use kind_mismatch key_revoked already_member invitation_pending last_admin preview_consumed limit_reached turn_in_progress not_uncertain web_call_over gate_pending gate_failed inputs_missing redacted',
  run_not_active: 'run_ended',
  capability_unavailable:
    'unsupported_capability tenant_not_configured admission_disabled pricing_not_installed channel_not_supported livekit_not_configured mode_not_supported telephony_missing trunk_unavailable number_unavailable secret_unavailable model_not_ready voice_not_ready signing_secret_missing destination_not_configured web_call_unanswered gate_suite_missing',
  forbidden: 'role can_dial production_only origin_not_allowed',
  policy_denied: 'spend_cap destination_not_allowed listening_disabled',
  rate_limited: 'request_rate daily_call_limit concurrent_capacity streams site_key_limit',
  publication_invalid: 'invalid_draft model_binding_required',
  knowledge_unavailable: 'not_configured no_generation',
}

const RETRYABLE = new Set([
  'rate_limited',
  'provider_unavailable',
  'knowledge_unavailable',
  'outcome_unknown',
  'internal',
])

describe('the errors of the API', () => {
  it('the API has exactly the specified error codes and statuses', () => {
    const entries = Object.entries(API_ERRORS).map(([code, { status }]) => [code, status])
    expect(Object.fromEntries(entries)).toEqual(STATUS)
  })

  it.each(ERROR_CODES)('%s has exactly the specified reasons', code =>
    expect([...API_ERRORS[code].reasons].sort()).toEqual((REASONS[code]?.split(' ') ?? []).sort()),
  )

  it.each(ERROR_CODES)('the code and the reason decide whether %s is retryable', code => {
    expect(isRetryable(code)).toBe(RETRYABLE.has(code))
    for (const reason of API_ERRORS[code].reasons as readonly ErrorReason[]) {
      const busy = reason === 'in_progress' || reason === 'turn_in_progress' || reason === 'gate_pending'
      expect(isRetryable(code, reason)).toBe(busy || (RETRYABLE.has(code) && reason !== 'not_configured'))
    }
  })
})

/** The row of docs/errors.md for an error code. */
function documentedRow(code: ErrorCode): string {
  const { status, text, reasons } = API_ERRORS[code]
  const word = (retryable: boolean) => (retryable ? 'yes' : 'no')
  const named = (reasons as readonly ErrorReason[]).map(reason => {
    const differs = isRetryable(code, reason) !== isRetryable(code)
    return `\`${reason}\`${differs ? ` (retryable: ${word(isRetryable(code, reason))})` : ''}`
  })
  return `| \`${code}\` | ${status} | ${word(isRetryable(code))} | ${text} | ${named.join(', ')} |`
}

it('docs/errors.md lists every error code of the API with its status, meaning and reasons', () => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  expect(page.split('\n').filter(line => line.startsWith('| `'))).toEqual(ERROR_CODES.map(documentedRow))
})

describe('an error envelope', () => {
  it.each(ERROR_CODES)('the envelope of %s is valid against its schema', code => {
    const made = envelopeOf(code, 'What is wrong')
    expect(errorEnvelope.parse(made)).toEqual(made)
    expect(made.error.outcome).toBe(code === 'outcome_unknown' ? 'unknown' : 'none')
    expect('details' in made.error).toBe(false)
  })

  it('the reason and further details of an error are in details', () =>
    expect(
      envelopeOf('conflict', 'Stale', { reason: 'stale_revision', details: { current: { revision: 4 } } }),
    ).toEqual({
      error: {
        code: 'conflict',
        message: 'Stale',
        retryable: false,
        outcome: 'none',
        details: { reason: 'stale_revision', current: { revision: 4 } },
      },
    }))

  const error = { code: 'internal', message: 'x', retryable: true, outcome: 'none' }
  it.each([
    { ...error, code: 'teapot' },
    { ...error, outcome: 'perhaps' },
    { ...error, details: null },
    { ...error, extra: 1 },
    { code: 'internal', message: 'x', retryable: true },
    { code: 'internal', message: 'x', outcome: 'none' },
  ])('%j is not a valid error', wrong => expect(errorEnvelope.safeParse({ error: wrong }).success).toBe(false))
})
