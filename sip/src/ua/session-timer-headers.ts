import type { HeaderList } from '../message/header-list.ts'
import { tokenList } from '../message/token-list.ts'
import type { HeaderPairs } from './session.ts'
import { parseTokenParams } from './token-params.ts'

/** RFC 4028 section 4: no session interval is smaller, and without Min-SE none may be. Seconds. */
export const LEAST_INTERVAL_S = 90

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
  // 2^31 ms are all that a timer can wait for; 24 days are no interval any more.
  return text !== undefined && /^\d{1,10}$/.test(text) ? Math.min(Number(text), 2_000_000) : undefined
}

/** The sender of these headers knows session timers. */
export function supportsTimer(headers: HeaderList): boolean {
  return ['Supported', 'Require'].some(name => tokenList(headers, name).some(tag => tag.toLowerCase() === 'timer'))
}

/** The headers of the 422 for an interval that is too small (RFC 4028 section 9); undefined: it can be taken. */
export function intervalTooSmall(headers: HeaderList, minSeS: number): HeaderPairs | undefined {
  const asked = sessionExpiresOf(headers)
  // Who does not know timers does not understand a 422; a proxy put the interval there.
  if (asked === undefined || asked.intervalS >= minSeS || !supportsTimer(headers)) return undefined
  return [['Min-SE', String(minSeS)]]
}
