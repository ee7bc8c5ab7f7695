import { type HttpAction, render } from '@parley/flow'
import type { CallFacts } from '../ports.ts'

const MAX_URL_LENGTH = 16_384
const MAX_BODY_BYTES = 1_048_576

/** The request of an action without its authentication. */
export interface HttpRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for GET and DELETE, whose arguments are sent in the query. */
  readonly body: string | undefined
}

export type UnfitRequest = 'bad_url' | 'request_too_large'

/**
 * Builds the request of an action. Values are percent-encoded in the URL and the query, so that a caller's words change
 * neither host nor path and add no parameter. A value that would form a ".." path segment makes the URL `bad_url`.
 */
export function httpRequest(
  action: HttpAction,
  values: Readonly<Record<string, unknown>>,
  call: CallFacts,
  fillIn: (text: string) => string,
): HttpRequest | UnfitRequest {
  const bodiless = action.method === 'GET' || action.method === 'DELETE'
  const url = requestUrl(action, bodiless ? values : {}, fillIn)
  if (url === undefined) return 'bad_url'
  const headers: Record<string, string> = { accept: 'application/json, text/plain;q=0.9, */*;q=0.1' }
  const body = bodiless ? undefined : requestBody(action, values, call)
  if (body !== undefined) {
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) return 'request_too_large'
    headers['content-type'] =
      action.body_format === 'json' ? 'application/json' : 'application/x-www-form-urlencoded;charset=UTF-8'
  }
  for (const [name, value] of Object.entries(action.headers)) headers[name.toLowerCase()] = fillIn(value)
  return { url, headers, body }
}

function requestUrl(
  action: HttpAction,
  values: Readonly<Record<string, unknown>>,
  fillIn: (text: string) => string,
): string | undefined {
  const filled = render(action.url, name => encodeURIComponent(fillIn(`{{${name}}}`).toWellFormed()))
  if (filled.length > MAX_URL_LENGTH || climbs(action.url, filled) || !URL.canParse(filled)) return undefined
  const url = new URL(filled)
  for (const [name, value] of fields(values)) url.searchParams.append(name, value)
  for (const [name, value] of Object.entries(action.query)) url.searchParams.set(name, fillIn(value).toWellFormed())
  return url.href.length > MAX_URL_LENGTH ? undefined : url.href
}

/** Whether a value turned a path segment into "." or ".."; encoded dots count (WHATWG URL, "double-dot URL path segment"). */
function climbs(template: string, filled: string): boolean {
  const written = segments(render(template, () => 'x'))
  return segments(filled).some((segment, at) => segment !== written[at] && /^(\.|%2e){1,2}$/i.test(segment))
}

function segments(url: string): string[] {
  return url.replace(/[?#].*$/s, '').split(/[/\\]/)
}

function requestBody(action: HttpAction, values: Readonly<Record<string, unknown>>, call: CallFacts): string {
  const { run_id, agent_id, agent_version, channel, from_number, to_number } = call
  const content = action.args_at_root
    ? values
    : {
        name: action.name,
        args: values,
        call: { run_id, agent_id, agent_version, channel, from_number, to_number },
      }
  return action.body_format === 'json' ? JSON.stringify(content) : new URLSearchParams(fields(content)).toString()
}

/** Arguments as form fields: objects and arrays as JSON, null and undefined left out. */
function fields(values: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)])
}
