import type { OperationRoute } from './operation-route.ts'

/** The request of any operation. */
export interface AnyRequest {
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  readonly idempotency_key?: string | undefined
}

/** The URL of a request. Throws `TypeError` for a parameter that a path cannot contain. */
export function urlOf(baseUrl: string, route: OperationRoute, request: AnyRequest): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => pathPart(name, request.params?.[name]))
  const query = new URLSearchParams()
  if (route.takesQuery)
    for (const [name, value] of Object.entries(request.query ?? {}))
      if (value !== undefined) query.append(name, String(value))
  const text = query.toString()
  return `${baseUrl}${path}${text === '' ? '' : `?${text}`}`
}

function pathPart(name: string, value: unknown): string {
  if (value === undefined || value === null || value === '') throw new TypeError(`params.${name} is missing`)
  const part = String(value)
  // URL parsing removes dot segments, so the request would go to another path.
  if (part === '.' || part === '..') throw new TypeError(`params.${name} must not be "${part}"`)
  if (!part.isWellFormed()) throw new TypeError(`params.${name} must not contain an unpaired surrogate`)
  return encodeURIComponent(part)
}

/** `https://host/below` without a slash at its end. Throws `TypeError`. */
export function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError(
      `baseUrl must be an http or https URL, such as https://parley.example.com, not ${JSON.stringify(text)}`,
    )
  if (url.username || url.password || url.search || url.hash)
    throw new TypeError('baseUrl must have no user, password, query or fragment')
  return url.href.replace(/\/+$/, '')
}
