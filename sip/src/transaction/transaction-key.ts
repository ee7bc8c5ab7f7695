import { type SipRequest, type SipResponse, tagOf } from '../message/message.ts'
import { serialiseUri } from '../message/uri.ts'

/** RFC 3261 section 8.1.1.7: a branch that is unique by construction starts with this. */
export const MAGIC_COOKIE = 'z9hG4bK'

/** RFC 3261 section 17.1.3: branch of the topmost Via and method of the CSeq. Undefined: matches nothing. */
export function clientKey(response: SipResponse): string | undefined {
  const branch = response.via[0]?.params.get('branch')
  return branch ? `${branch} ${response.cseq.method}` : undefined
}

/**
 * RFC 3261 section 17.2.3: branch, sent-by and method, where an ACK or a CANCEL is looked up as the INVITE. Branches of
 * RFC 2543 (no magic cookie) are tolerated: their key is what the section lists, the To tag aside.
 */
export function serverKey(request: SipRequest, method = request.method): string {
  const via = request.via[0]
  const branch = via?.params.get('branch') ?? ''
  const sentBy = `${via?.host ?? ''}:${via?.port ?? ''}`
  if (branch.toLowerCase().startsWith(MAGIC_COOKIE.toLowerCase())) return `${branch} ${sentBy} ${method}`
  const { callId, cseq, from, uri } = request
  return `2543 ${branch} ${sentBy} ${method} ${callId} ${cseq.sequence} ${tagOf(from) ?? ''} ${serialiseUri(uri)}`
}

/** RFC 3261 section 8.2.2.2: key that is equal for copies of one request that arrived over several paths. */
export function mergeKey(request: SipRequest): string {
  return `${request.callId} ${tagOf(request.from) ?? ''} ${request.cseq.sequence} ${request.cseq.method}`
}
