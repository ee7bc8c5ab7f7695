import { describe, expect, it } from 'vitest'
import { mayBeLinear, speechBody, speechFailure } from './speech-request.ts'

describe('speech from an OpenAI-compatible service', () => {
  it('speech from an OpenAI-compatible service is requested as raw linear audio', () => {
    const request = { text: 'Hello.', language: 'en', speed: 1.5 }
    expect(JSON.parse(speechBody(request, { model: 'm', voice: 'alloy' }))).toEqual({
      model: 'm',
      input: 'Hello.',
      voice: 'alloy',
      response_format: 'pcm',
      speed: 1.5,
    })
  })

  it.each([
    ['audio/pcm', true],
    ['application/octet-stream', true],
    [undefined, true],
    ['audio/wav', false],
    ['audio/mpeg', false],
    ['text/html; charset=utf-8', false],
    ['application/json', false],
  ])('speech from an OpenAI-compatible service may be linear audio when its content type is %s: %s', (type, may) =>
    expect(mayBeLinear(type)).toBe(may),
  )

  it.each([
    [401, { error: { code: 'invalid_api_key', message: 'Incorrect key: sk-secret' } }, 'voice_refused', false],
    [429, { error: { code: 'insufficient_quota' } }, 'voice_refused', false],
    [429, { error: { type: 'rate_limit_error' } }, 'voice_busy', true],
    [400, { error: { param: 'voice', message: 'no' } }, 'voice_unknown', false],
    [400, { detail: 'something' }, 'voice_failed', false],
    [500, 'not JSON', 'voice_failed', true],
    [504, '', 'voice_unreachable', true],
  ])('with the error answer %i %j fails with "%s"', (status, body, code, retryable) => {
    const error = speechFailure(status, typeof body === 'string' ? body : JSON.stringify(body))
    expect(error).toMatchObject({ code, retryable })
    expect(error.message).not.toContain('sk-secret')
  })
})
