import type { EgressRequest } from './protocol.ts'
import { type Target, targetOf } from './target.ts'

/** One message to a server. */
export interface Message {
  readonly target: Target
  readonly method: EgressRequest['method']
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** See `EgressRequest.keepsBody`. */
  readonly keepsBody?: boolean | undefined
}

/**
 * The request that follows a redirect (RFC 9110 section 15.4); undefined if the answer is no redirect, or leads to another host.
 * A redirect from http to https counts as the same host only on the default ports.
 */
export function redirected(message: Message, status: number, location: string | undefined): Message | undefined {
  const base = message.target.url.href
  if (location === undefined || !URL.canParse(location, base)) return undefined
  const target = targetOf(new URL(location, base).href)
  if (target === undefined || !isSameHost(message.target, target)) return undefined
  switch (status) {
    case 301:
    case 302:
      return message.method === 'POST' && message.keepsBody !== true ? asGet(message, target) : { ...message, target }
    case 303:
      return message.keepsBody === true ? undefined : asGet(message, target)
    case 307:
    case 308:
      return { ...message, target }
    default:
      return undefined
  }
}

function isSameHost(from: Target, to: Target): boolean {
  if (from.host !== to.host) return false
  if (from.secure === to.secure) return from.port === to.port
  return to.secure && from.port === 80 && to.port === 443
}

function asGet(message: Message, target: Target): Message {
  const headers = Object.entries(message.headers).filter(([name]) => !name.startsWith('content-'))
  return { target, method: 'GET', headers: Object.fromEntries(headers), body: undefined }
}
