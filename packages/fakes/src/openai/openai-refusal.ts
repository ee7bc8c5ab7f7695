import type { IncomingHttpHeaders } from 'node:http'
import type { FakeHttpAnswer } from '../models/model-dialect.ts'

/** The bearer token; null when there is none. */
export function bearerOf(headers: IncomingHttpHeaders): string | null {
  return /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? null
}

/** OpenAI's errors; the error for a wrong key repeats it. */
export function openAiRefusal(why: 'key' | 'busy' | 'path' | 'down', key: string | null): FakeHttpAnswer {
  switch (why) {
    case 'key':
      return openAiError(
        401,
        'invalid_request_error',
        'invalid_api_key',
        `Incorrect API key provided: ${key ?? 'none'}.`,
      )
    case 'busy':
      return openAiError(429, 'requests', 'rate_limit_exceeded', 'Rate limit reached')
    case 'path':
      return openAiError(404, 'invalid_request_error', null, 'Unknown request URL')
    case 'down':
      return openAiError(500, 'server_error', null, 'The server had an error while processing your request.')
  }
}

export function openAiError(status: number, type: string, code: string | null, message: string): FakeHttpAnswer {
  return { status, body: { error: { message, type, param: null, code } } }
}
