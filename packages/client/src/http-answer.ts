import type { ErrorEnvelope } from './api.ts'

/** Maximum size of a response; the API's are smaller. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * The body as JSON; undefined if it is not JSON. Rejects with errors of the connection, or `RangeError` if it is too
 * long.
 */
export async function readJson(response: Response): Promise<unknown> {
  const text = await readText(response)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function readText(response: Response): Promise<string> {
  if (response.body === null) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > MAX_ANSWER_BYTES) {
      await reader.cancel().catch(() => {})
      throw new RangeError(`the response is longer than ${MAX_ANSWER_BYTES} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** The body as error envelope, or null. Unknown codes of newer servers are accepted. */
export function asEnvelope(body: unknown): ErrorEnvelope | null {
  if (!isObject(body) || !isObject(body.error)) return null
  const { code, message, retryable, outcome, details } = body.error
  if (typeof code !== 'string' || typeof message !== 'string') return null
  return {
    error: {
      code: code as ErrorEnvelope['error']['code'],
      message,
      retryable: retryable === true,
      outcome: outcome === 'unknown' ? 'unknown' : 'none',
      ...(isObject(details) && { details: details as NonNullable<ErrorEnvelope['error']['details']> }),
    },
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
