import { describe, expect, it } from 'vitest'
import { ProviderError } from '../errors.ts'
import { failureOf, retryAfterMs } from './model-failure.ts'

const vendor = (code: string, message = 'something') => JSON.stringify({ error: { message, type: 't', code } })
const anthropic = (type: string, message = 'something') => JSON.stringify({ type: 'error', error: { type, message } })

describe('an error answer of a model service', () => {
  it.each([
    [401, vendor('invalid_api_key'), 'model_refused', false],
    [403, '', 'model_refused', false],
    [402, '', 'model_refused', false],
    [429, vendor('rate_limit_exceeded'), 'model_busy', true],
    [429, vendor('insufficient_quota'), 'model_refused', false],
    [400, vendor('content_filter'), 'model_refused', false],
    [400, vendor('context_length_exceeded'), 'prompt_too_long', false],
    [400, vendor('', "This model's maximum context length is 8192 tokens."), 'prompt_too_long', false],
    [
      400,
      '{"error":{"code":400,"message":"the request exceeds the available context size"}}',
      'prompt_too_long',
      false,
    ],
    [413, '<html>', 'prompt_too_long', false],
    [400, vendor('invalid_request_error'), 'model_failed', false],
    [422, '{"detail":"bad"}', 'model_failed', false],
    [404, '{"error":"model \'x\' not found"}', 'model_failed', false],
    [301, '', 'model_failed', false],
    [500, '', 'model_failed', true],
    [502, '<html>', 'model_unreachable', true],
    [503, '', 'model_busy', true],
    [504, '', 'model_unreachable', true],
    [529, vendor('overloaded_error'), 'model_busy', true],
    [529, anthropic('overloaded_error'), 'model_busy', true],
    [401, anthropic('authentication_error'), 'model_refused', false],
    [429, anthropic('rate_limit_error'), 'model_busy', true],
    [
      429,
      '{"type":"error","error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}',
      'model_refused',
      false,
    ],
    [
      400,
      anthropic('invalid_request_error', 'Your credit balance is too low to access the API.'),
      'model_refused',
      false,
    ],
    [400, anthropic('invalid_request_error', 'prompt is too long: 300 tokens > 200 maximum'), 'prompt_too_long', false],
    [
      400,
      anthropic('invalid_request_error', 'input length and `max_tokens` exceed context limit'),
      'prompt_too_long',
      false,
    ],
    [400, anthropic('invalid_request_error', 'max_tokens: Field required'), 'model_failed', false],
    [404, anthropic('not_found_error', 'model: claude-x'), 'model_failed', false],
    [500, anthropic('api_error'), 'model_failed', true],
  ])('with status %i and body %s has the code "%s"', (status, body, code, retryable) => {
    expect(failureOf(status, body, undefined)).toMatchObject({ code, retryable })
  })

  it('an error answer of a model service carries the Retry-After time of the service', () => {
    const delayFor = (header: string | undefined) => retryAfterMs(failureOf(429, '', header))
    expect(delayFor('20')).toBe(20_000)
    expect(delayFor(' 1.5 ')).toBe(1500)
    expect(delayFor('999999999')).toBe(3_600_000)
    expect(delayFor(undefined)).toBeNull()
    expect(delayFor('Wed, 21 Oct 2015 07:28:00 GMT')).toBeNull()
    expect(retryAfterMs(new ProviderError('model_busy', 'no refusal of a service', { retryable: false }))).toBeNull()
    expect(retryAfterMs('nothing')).toBeNull()
  })

  it("an error answer of a model service never repeats the service's own text", () => {
    const error = failureOf(
      400,
      vendor('odd code with sk-secret', 'Your prompt "my name is Ada" with sk-secret'),
      undefined,
    )
    expect(`${error.message} ${error.stack} ${(error.cause as Error).message}`).not.toMatch(/sk-secret|Ada/)
  })
})
