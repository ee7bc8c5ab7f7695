import { HeaderList } from '../message/header-list.ts'
import type { SipRequest } from '../message/message.ts'
import { parseReason, serialiseReason } from '../message/reason.ts'
import type { HeaderReason } from './session.ts'

/**
 * CANCEL for an INVITE (RFC 3261 section 9.1): its Request-URI, Call-ID, To, From, CSeq number, Route and single Via.
 * It is not challenged, so it carries no credentials.
 */
export function createCancel(invite: SipRequest, reason: HeaderReason | undefined): SipRequest {
  return {
    ...invite,
    method: 'CANCEL',
    via: invite.via.slice(0, 1),
    cseq: { sequence: invite.cseq.sequence, method: 'CANCEL' },
    maxForwards: 70,
    recordRoute: [],
    contact: [],
    headers: reasonHeaders(reason),
    body: new Uint8Array(0),
  }
}

/** RFC 3326. */
export function reasonHeaders(reason: HeaderReason | undefined): HeaderList {
  return reason === undefined ? HeaderList.empty : HeaderList.empty.with('Reason', serialiseReason(reason))
}

/** The Reason header of a CANCEL or BYE (RFC 3326) for a log line; empty without one. */
export function reasonText(request: SipRequest): string {
  const given = request.headers.all('Reason').flatMap(line => parseReason(line))[0]
  if (given === undefined) return ''
  return ` (${[given.protocol, given.cause, given.text].filter(part => part !== undefined).join(' ')})`
}
