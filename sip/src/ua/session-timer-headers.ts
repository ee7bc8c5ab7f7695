import type { HeaderList } from '../message/header-list.ts'
import { tokenList } from '../message/token-list.ts'
import type { HeaderPairs } from './session.ts'
import { parseTokenParams } from './token-params.ts'

/** RFC 4028 section 4: no session interval is smaller, and without Min-SE none may be. Seconds. */
export const MIN_INTERVAL_S = 90

/** Who sends the refreshes, as the headers say it: the sender of the request, or the one who answered it. */
export type RefresherParam = 'uac' | 'uas'

interface SessionExpires {
  readonly intervalS: number
  readonly refresher: RefresherParam | undefined
}

/** RFC 4028 section 4; undefined when there is none that can be read. */
export function sessionExpiresOf(headers: HeaderList): SessionExpires | undefined {
  const value = parseTokenParams(headers.get('Session-Expires') ?? '')
  const intervalS = seconds(value?.token)
  const refresher = value?.params.get('refresher')?.toLowerCase()
  if (intervalS === undefined) return undefined
  return { intervalS, refresher: refresher === 'uac' || refresher === 'uas' ? refresher : undefined }
}

/** RFC 4028 section 5. */
export function minSeOf(headers: HeaderList): number | undefined {
  return seconds(parseTokenParams(headers.get('Min-SE') ?? '')?.token)
}

function seconds(text: string | undefined): number | undefined {
  // A timer can wait 2^31 ms at most (24 days).
  return text !== undefined && /^\d{1,10}$/.test(text) ? Math.min(Number(text), 2_000_000) : undefined
}

/** Whether the sender of these headers supports session timers. */
export function supportsTimer(headers: HeaderList): boolean {
  return ['Supported', 'Require'].some(name => tokenList(headers, name).some(tag => tag.toLowerCase() === 'timer'))
}

/** The headers of the 422 for an interval that is too small (RFC 4028 section 9); undefined: the interval is acceptable. */
export function intervalTooSmall(headers: HeaderList, minSeS: number): HeaderPairs | undefined {
  const requested = sessionExpiresOf(headers)
  // A peer without timer support does not understand a 422; a proxy has added the interval.
  if (requested === undefined || requested.intervalS >= minSeS || !supportsTimer(headers)) return undefined
  return [['Min-SE', String(minSeS)]]
}
