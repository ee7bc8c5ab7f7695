import type { Ms } from '@parley/kernel'
import { ProviderError, type ProviderErrorCode, type ProviderFailure } from '../errors.ts'
import { isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'

/** The error answer of a service: the `cause` of the error that is thrown. */
export class ServiceRefusal extends Error {
  /** HTTP status; null for an error inside an answer that had begun. */
  readonly status: number | null
  /** The service's own error code, such as "insufficient_quota"; "" when it sent none. */
  readonly vendorCode: string
  /** The `Retry-After` header; null: there was none. */
  readonly retryAfterMs: Ms | null

  constructor(status: number | null, vendorCode: string, retryAfterMs: Ms | null) {
    super(`${status ?? 'in the answer'} ${vendorCode}`.trim())
    this.name = 'ServiceRefusal'
    this.status = status
    this.vendorCode = vendorCode
    this.retryAfterMs = retryAfterMs
  }
}

/** The Retry-After time of the service that failed a request; null when it sent none. */
export function retryAfterMs(error: unknown): Ms | null {
  return ProviderError.is(error) && error.cause instanceof ServiceRefusal ? error.cause.retryAfterMs : null
}

const MAX_RETRY_AFTER_MS: Ms = 3_600_000

/**
 * The error for an answer with an error status. The service's text is left out, because it may contain the key or the
 * prompt.
 */
export function failureOf(status: number, body: string, retryAfter: string | undefined): ProviderFailure {
  const error = errorIn(objectOf(body))
  const refusal = new ServiceRefusal(status, codeOf(error), delayOf(retryAfter) ?? delayOf(retryDelayOf(error)))
  return classified(refusal, textFor(error) || body.slice(0, 2048))
}

/** The error for an error object inside an answer that had begun with a success status. */
export function failureInAnswer(chunk: JsonObject): ProviderFailure {
  const error = errorIn(chunk)
  const status = [error.status, error.code].find(value => typeof value === 'number' && value >= 400 && value < 600)
  return classified(new ServiceRefusal((status as number | undefined) ?? null, codeOf(error), null), textFor(error))
}

/** `{error: {message, type, code}}`; also `{error: "…"}`, `{detail: "…"}` and `{message: "…"}`, as some services write it. */
function errorIn(body: JsonObject | null): JsonObject {
  if (body === null) return {}
  if (isObject(body.error)) return body.error
  return typeof body.error === 'string' ? { ...body, message: body.error } : body
}

function textFor(error: JsonObject): string {
  return textIn(error, 'message') || textIn(error, 'detail')
}

/**
 * The most specific error code: Anthropic reports an exhausted account only in the details, and Google has a list of
 * details, of which one has a reason.
 */
function codeOf(error: JsonObject): string {
  const details = isObject(error.details) ? error.details : {}
  const reason = detailsOf(error)
    .map(detail => textIn(detail, 'reason'))
    .find(one => one !== '')
  const code = textIn(details, 'error_code') || reason || textIn(error, 'code') || textIn(error, 'type')
  return /^[A-Za-z0-9_.-]{1,64}$/.test(code) ? code : ''
}

/** Google's list of details (`google.rpc.Status`). */
function detailsOf({ details }: JsonObject): JsonObject[] {
  return Array.isArray(details) ? details.filter(isObject) : []
}

/** Google's time to wait is a detail: `{"retryDelay": "34s"}`. */
function retryDelayOf(error: JsonObject): string | undefined {
  const delay = detailsOf(error).map(detail => /^([0-9.]+)s$/.exec(textIn(detail, 'retryDelay'))?.[1])
  return delay.find(seconds => seconds !== undefined)
}

function classified(refusal: ServiceRefusal, text: string): ProviderFailure {
  const { status, vendorCode } = refusal
  const source = [status === null ? '' : `HTTP ${status}`, vendorCode].filter(part => part !== '').join(', ')
  const because = source === '' ? '' : ` (${source})`
  const failed = (code: ProviderErrorCode, message: string, retryable: boolean) =>
    new ProviderError(code, `${message}${because}.`, { retryable, cause: refusal })

  if (isTooLong(status, vendorCode, text))
    return failed('prompt_too_long', 'The prompt is too long for the model', false)
  const isUsedUp = status === 400 && /credit balance|usage limits/i.test(text)
  if (status === 402 || isUsedUp || /quota|billing|credit|spend_limit/i.test(vendorCode))
    return failed('model_refused', "The account's quota at the model's service is used up", false)
  if (/content_filter|content_policy|moderation|safety/i.test(vendorCode))
    return failed('model_refused', "The model's service refused the content", false)
  if (status === 401 || status === 403 || /invalid_api_key|api_key_invalid|authentication|permission/i.test(vendorCode))
    return failed('model_refused', "The model's service refused the key", false)
  if (status === 429 || status === 503 || status === 529 || /rate_limit|overloaded/i.test(vendorCode))
    return failed('model_busy', "The model's service is busy", true)
  if (status === 502 || status === 504) return failed('model_unreachable', "The model's service is not reachable", true)
  if (status === 404) return failed('model_failed', "The model's service does not know the model or the path", false)
  const isInvalidRequest = /invalid_request|not_found/i.test(vendorCode)
  const retryable = status === null ? !isInvalidRequest : status === 408 || status >= 500
  return failed('model_failed', "The model's service answered with an error", retryable)
}

function isTooLong(status: number | null, code: string, text: string): boolean {
  if (status === 413 || /context_length|context_size|string_above_max_length/i.test(code)) return true
  if (status !== null && ![400, 422, 500].includes(status)) return false
  return /context (?:length|window|size)|(?:maximum|exceed) context|prompt is too long|too many (?:input )?tokens|token count .{0,40}exceeds/i.test(
    text,
  )
}

/** Retry-After (RFC 9110 section 10.2.3) in seconds; a date is ignored, because the clocks may differ. */
function delayOf(header: string | undefined): Ms | null {
  const seconds = /^\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*$/.exec(header ?? '')?.[1]
  return seconds === undefined ? null : Math.min(Number(seconds) * 1000, MAX_RETRY_AFTER_MS)
}
