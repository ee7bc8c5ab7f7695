import { HeaderList } from '../message/header-list.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'

/**
 * The ACK to a 300..699 (RFC 3261 section 17.1.1.3): the INVITE's Request-URI, topmost Via, From, Call-ID, CSeq number
 * and Route, the response's To. It carries no credentials, because only the next hop receives it.
 */
export function ackToFailure(invite: SipRequest, response: SipResponse): SipRequest {
  return {
    ...invite,
    method: 'ACK',
    via: invite.via.slice(0, 1),
    to: response.to,
    cseq: { sequence: invite.cseq.sequence, method: 'ACK' },
    recordRoute: [],
    contact: [],
    maxForwards: 70,
    headers: HeaderList.empty,
    body: new Uint8Array(0),
  }
}
