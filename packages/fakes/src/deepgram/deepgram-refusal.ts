import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Refusal } from '../hearing/socket-service.ts'

const CODES: Readonly<Record<number, readonly [string, string]>> = {
  400: ['Bad Request', 'Bad Request'],
  401: ['INVALID_AUTH', 'Invalid credentials.'],
  402: ['ASR_PAYMENT_REQUIRED', 'Project does not have enough credits for an ASR request.'],
  403: ['INSUFFICIENT_PERMISSIONS', 'User does not have sufficient permissions.'],
  429: ['TOO_MANY_REQUESTS', 'Too many requests. Please try again later'],
}

/** Deepgram's body of a refusal. */
export function deepgramRefusal(status: number, message?: string): object {
  const [code, text] = CODES[status] ?? ['INTERNAL_SERVER_ERROR', 'Internal Server Error']
  return { err_code: code, err_msg: message ?? text, request_id: randomUUID() }
}

/** Refuses what goes to another path or comes with another key. */
export function deepgramRefusesRequest(
  url: URL,
  request: IncomingMessage,
  expected: { readonly path: string; readonly apiKey: string },
): Refusal | null {
  if (url.pathname !== expected.path) return { status: 404, body: deepgramRefusal(404, 'Not Found') }
  if (request.headers.authorization === `Token ${expected.apiKey}`) return null
  return { status: 401, body: deepgramRefusal(401) }
}
