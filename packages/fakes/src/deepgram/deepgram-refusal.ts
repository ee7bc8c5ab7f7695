import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Refusal } from '../sockets/socket-service.ts'

const CODES: Readonly<Record<number, readonly [string, string]>> = {
  400: ['Bad Request', 'Bad Request'],
  401: ['INVALID_AUTH', 'Invalid credentials.'],
  402: ['ASR_PAYMENT_REQUIRED', 'Project does not have enough credits for an ASR request.'],
  403: ['INSUFFICIENT_PERMISSIONS', 'User does not have sufficient permissions.'],
  429: ['TOO_MANY_REQUESTS', 'Too many requests. Please try again later'],
}

/** The refusal of a connection by Deepgram's recognisers. */
export function deepgramRefusal(status: number, message?: string): Refusal {
  const [code, text] = CODES[status] ?? ['INTERNAL_SERVER_ERROR', 'Internal Server Error']
  return { status, body: deepgramError(code, message ?? text) }
}

/** Deepgram's body of a refusal. */
export function deepgramError(code: string, message: string): object {
  return { err_code: code, err_msg: message, request_id: randomUUID() }
}

/** Refuses a request with another path or key. */
export function deepgramRefusesRequest(
  url: URL,
  headers: IncomingHttpHeaders,
  expected: { readonly path: string; readonly apiKey: string },
): Refusal | null {
  if (url.pathname !== expected.path) return deepgramRefusal(404, 'Not Found')
  return headers.authorization === `Token ${expected.apiKey}` ? null : deepgramRefusal(401)
}

const SAMPLE_RATES: Readonly<Record<string, readonly string[]>> = { mulaw: ['8000'], linear16: ['8000', '16000'] }

/** The problem with the audio that a query announces; null: it is valid. */
export function deepgramAudioProblem(query: URLSearchParams): string | null {
  const rates = SAMPLE_RATES[query.get('encoding') ?? '']
  if (rates === undefined) return 'Bad Request: encoding'
  return rates.includes(query.get('sample_rate') ?? '') ? null : 'Bad Request: sample_rate'
}
