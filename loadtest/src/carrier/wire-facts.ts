import {
  type HeaderList,
  isSipUri,
  type NameAddr,
  parseNameAddr,
  parseUri,
  type SipMessage,
  type SipRequest,
  serialiseUri,
  tagOf,
} from '@parley/sip'
import type { CarrierLedgerEntry } from './ledger-entry.ts'
import type { FarEnd } from './wire-tap.ts'

const LONGEST_FIELD = 256
const MAX_HEADERS = 16

export type Line = Pick<CarrierLedgerEntry, 'cseq' | 'branch' | 'source'>

/** User part of the Request-URI; "" for a URI without one. */
export function calledIn(invite: SipRequest): string {
  return cut((isSipUri(invite.uri) ? invite.uri.user : undefined) ?? '')
}

/** Call-ID and the caller's tag: one dialog, or one attempt at one. */
export function keyOf({ callId, from }: SipRequest): string {
  return `${callId} ${tagOf(from) ?? ''}`
}

export function aboutOf(request: SipRequest): Pick<CarrierLedgerEntry, 'call_id' | 'from' | 'to' | 'called'> {
  const uriOf = ({ uri }: NameAddr) => cut(serialiseUri(uri))
  return { call_id: request.callId, from: uriOf(request.from), to: uriOf(request.to), called: calledIn(request) }
}

/** Where a message stands on the wire. */
export function lineOf({ cseq, via }: SipMessage, far: FarEnd | null): Line {
  return {
    cseq: cseq.sequence,
    branch: cut(via[0]?.params.get('branch') ?? ''),
    source: far === null ? '' : `${far.transport} ${far.remote.address}:${far.remote.port}`,
  }
}

export function contactAt(text: string): readonly NameAddr[] {
  const uri = parseUri(text)
  return uri === undefined ? [] : [{ displayName: undefined, uri, params: new Map() }]
}

/** `X-` headers with names in lower case, limited in number and length to what a row holds. */
export function customHeaders(headers: HeaderList): Readonly<Record<string, string>> {
  const custom = headers.entries.filter(([name]) => /^x-/i.test(name)).slice(0, MAX_HEADERS)
  return Object.fromEntries(custom.map(([name, value]) => [cut(name.toLowerCase()), cut(value)]))
}

/** Text of a peer, cut to the length that a row holds. */
export function cut(text: string): string {
  return text.length > LONGEST_FIELD ? `${text.slice(0, LONGEST_FIELD)}…` : text
}

/** User part of Refer-To; null where it names none. */
export function targetOf(refer: SipRequest): string | null {
  const address = parseNameAddr(refer.headers.get('Refer-To') ?? '')
  return address !== undefined && isSipUri(address.uri) && address.uri.user !== undefined ? address.uri.user : null
}
