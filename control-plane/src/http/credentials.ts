import type { FastifyRequest } from 'fastify'
import type { Credentials, SessionCredentials } from '../pipeline/authenticator.ts'
import { isLoopback, isOwnOrigin } from './own-origin.ts'

const TOKEN = /^[A-Za-z0-9_-]{43}$/
const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The name of the session's cookie. The prefix binds a secure cookie to this host (RFC 6265bis section 4.1.3.2). */
function cookieName(baseUrl: string): string {
  return isSecure(baseUrl) ? '__Host-parley_session' : 'parley_session'
}

/** Off loopback a cookie is `Secure`: browsers send it over TLS only. */
function isSecure(baseUrl: string): boolean {
  return !URL.canParse(baseUrl) || !isLoopback(new URL(baseUrl))
}

/** The Set-Cookie header of a session; null: the cookie is removed. */
export function sessionCookie(baseUrl: string, token: string | null, maxAgeSeconds: number): string {
  const parts = [`${cookieName(baseUrl)}=${token ?? ''}`, 'Path=/', 'HttpOnly', 'SameSite=Strict']
  parts.push(`Max-Age=${token === null ? 0 : maxAgeSeconds}`)
  if (isSecure(baseUrl)) parts.push('Secure')
  return parts.join('; ')
}

/** The credentials of a request to the server that others reach at `baseUrl`. */
export function credentialsOf(request: FastifyRequest, baseUrl: string): Credentials {
  return {
    authorization: request.headers.authorization,
    address: request.ip,
    session: sessionOf(request, baseUrl),
  }
}

function sessionOf({ headers, method }: FastifyRequest, baseUrl: string): SessionCredentials | null {
  const token = tokenIn(headers.cookie, cookieName(baseUrl))
  if (token === null) return null
  const environment = headers['parley-environment']
  return {
    token,
    environment: Array.isArray(environment) ? environment.join(',') : environment,
    isFromOwnPage: READING.has(method) || (headers.origin !== undefined && isOwnOrigin(headers.origin, baseUrl)),
  }
}

/** The token of the cookie; null: there is none, or there are several, of which a foreign one may come first. */
function tokenIn(cookies: string | undefined, name: string): string | null {
  const values = (cookies ?? '').split(';').flatMap(cookie => {
    const [given, ...value] = cookie.trim().split('=')
    return given === name ? [value.join('=')] : []
  })
  const [token] = values
  return values.length === 1 && token !== undefined && TOKEN.test(token) ? token : null
}
