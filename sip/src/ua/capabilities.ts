import type { HeaderPairs } from './session.ts'

/** Methods that this user agent accepts, for Allow (RFC 3261 section 20.5). */
export const METHODS: readonly string[] = [
  'INVITE',
  'ACK',
  'CANCEL',
  'BYE',
  'OPTIONS',
  'INFO',
  'NOTIFY',
  'UPDATE',
  'PRACK',
]

/** Option tags that may stand in Require, for Supported (sections 8.2.2.3, 20.37). */
export const EXTENSIONS: readonly string[] = ['timer', '100rel']

/** Supported option tags of a request whose provisional responses are not awaited. */
export const WITHOUT_100REL: readonly string[] = ['timer']

/** What INVITE, re-INVITE, UPDATE and their 2xx announce (sections 13.2.1, 13.3.1.4; RFC 3311 section 5.1). */
export function abilityHeaders(extensions = EXTENSIONS): HeaderPairs {
  return [
    ['Allow', METHODS.join(', ')],
    ['Supported', extensions.join(', ')],
  ]
}

/** Media types of INVITE bodies, for Accept (section 8.2.3); in a multipart body the session is one part (RFC 5621). */
export const SESSION_BODIES: readonly string[] = [
  'application/sdp',
  'multipart/mixed',
  'multipart/alternative',
  'multipart/related',
]

/** RFC 6086 has no registered package for digits; these two are what peers send. */
export const DIGIT_BODIES: readonly string[] = ['application/dtmf-relay', 'application/dtmf']
