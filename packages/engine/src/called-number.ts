import { parseNameAddr, type SipRequest, type Uri } from '@parley/leg'

/**
 * The number that was called: the Request-URI's user where that is a number, else To's, else P-Called-Party-ID's
 * (RFC 7315). Digits of E.164 without "+"; null when none of them is a number.
 */
export function calledNumber(invite: SipRequest): string | null {
  const party = invite.headers.get('P-Called-Party-ID')
  const third = party === undefined ? undefined : parseNameAddr(party)?.uri
  for (const uri of [invite.uri, invite.to.uri, third]) {
    const number = uri === undefined ? null : numberOf(uri)
    if (number !== null) return number
  }
  return null
}

/** E.164 digits of a written number: "+1 (555) 000-1111", "0015550001111" and "15550001111" are the same; null: no number. */
export function e164Digits(written: string): string | null {
  const bare = written.replaceAll(/[\s().-]/g, '')
  const digits = /^(?:\+|00)?([1-9]\d{4,14})$/.exec(bare)?.[1]
  return digits ?? null
}

function numberOf(uri: Uri): string | null {
  if ('user' in uri) return uri.user === undefined ? null : e164Digits(uri.user.split(';')[0]!)
  return 'opaque' in uri && uri.scheme === 'tel' ? e164Digits(uri.opaque.split(';')[0]!) : null
}
