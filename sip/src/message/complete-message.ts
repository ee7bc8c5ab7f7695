import { HeaderList } from './header-list.ts'
import { UNREADABLE } from './header-readers.ts'
import type { CSeq, NameAddr, SipMessage, Via } from './message.ts'
import type { MessageDraft } from './message-draft.ts'
import type { MessageHead } from './message-head.ts'
import type { Fault, ParseResult, ResponseFields } from './parse-result.ts'

const COOKIE = 'z9hG4bK'

/** Joins head and body, checks that nothing mandatory is missing and builds the result. `body` is referenced, not copied. */
export function completeMessage(head: MessageHead, body: Uint8Array): ParseResult {
  const { draft, startLine } = head
  refuseMissing(draft, head.startOffset)
  const { from, to, callId, cseq } = draft
  if (draft.refusal !== undefined || startLine === undefined || !from || !to || callId === undefined || !cseq) {
    return refuseMessage(head, false)
  }
  noteMissing(draft, head, body)
  const { via, route, recordRoute, contact, faults } = draft
  const fields = {
    via,
    from,
    to,
    callId,
    cseq,
    route,
    recordRoute,
    contact,
    headers: new HeaderList(draft.headers),
    body,
  }
  let message: SipMessage
  if (startLine.kind === 'request') {
    if (head.uri === undefined) return refuseMessage(head, false)
    const { method } = startLine
    message = { kind: 'request', method, uri: head.uri, maxForwards: draft.maxForwards, ...fields }
  } else {
    if (startLine.status === undefined) return refuseMessage(head, false)
    message = { kind: 'response', status: startLine.status, reason: head.reason, ...fields }
  }
  return { ok: true, message, faults }
}

function refuseMissing(draft: MessageDraft, offset: number): void {
  if (draft.refusal !== undefined) return
  const missing: string[] = []
  if (draft.via.length === 0) missing.push('Via')
  if (draft.from === undefined) missing.push('From')
  if (draft.to === undefined) missing.push('To')
  if (draft.callId === undefined) missing.push('Call-ID')
  if (draft.cseq === undefined) missing.push('CSeq')
  if (missing.length > 0) {
    draft.refuse(
      400,
      'missing_header',
      missing[0]!,
      offset,
      `Required header fields are missing: ${missing.join(', ')}.`,
    )
  } else if (draft.via[0]?.params.get('branch') === COOKIE) {
    // RFC 4475 section 3.2.1: if this branch were accepted, all such requests would match one transaction.
    draft.refuse(400, 'bad_branch', 'Via', offset, 'The branch has the magic cookie but no identifier behind it.')
  }
}

/** RFC 2543 elements leave these out (RFC 4475 section 3.4.1). */
function noteMissing(draft: MessageDraft, head: MessageHead, body: Uint8Array): void {
  const offset = head.startOffset
  const branch = draft.via[0]?.params.get('branch')
  if (branch?.startsWith(COOKIE) !== true) {
    draft.tolerate('rfc2543_branch', 'Via', offset, 'The branch does not begin with the magic cookie of RFC 3261.')
  }
  if (draft.from?.params.get('tag') === undefined) {
    draft.tolerate('missing_tag', 'From', offset, 'From has no tag.')
  }
  if (body.length > 0 && draft.headers.every(header => header[0] !== 'Content-Type')) {
    draft.tolerate('missing_header', 'Content-Type', offset, 'The body has no Content-Type.')
  }
  if (head.startLine?.kind !== 'request') return
  if (draft.maxForwards === undefined && !draft.faults.some(fault => fault.code === 'bad_max_forwards')) {
    draft.tolerate('missing_header', 'Max-Forwards', offset, 'Max-Forwards is missing.')
  }
  if (head.startLine.method === 'INVITE' && draft.contact.length === 0) {
    draft.tolerate(
      'missing_header',
      'Contact',
      offset,
      'An INVITE without Contact leaves no target for later requests.',
    )
  }
}

/** The parse result of a head with a `draft.refusal`; it includes a response if the sender expects one and can be reached. */
export function refuseMessage(head: MessageHead, fatal: boolean): ParseResult {
  const { startLine, draft } = head
  const refusal = draft.refusal ?? { status: 0, fault: UNNAMED }
  const seed =
    startLine?.kind === 'request' && startLine.method !== 'ACK' && refusal.status !== 0
      ? responseFieldsOf(draft, startLine.method)
      : null
  return { ok: false, fault: refusal.fault, answer: seed === null ? null : refusal.status, responseFields: seed, fatal }
}

const UNNAMED: Fault = { code: 'bad_message', where: 'message', offset: 0, detail: 'The message cannot be read.' }

/** A response needs at least a readable Via; placeholders replace the other fields (RFC 4475 section 3.3.1). */
function responseFieldsOf(draft: MessageDraft, method: string): ResponseFields | null {
  const via: readonly Via[] = draft.via
  if (via.length === 0) return null
  const from: NameAddr = draft.from ?? UNREADABLE
  const to: NameAddr = draft.to ?? UNREADABLE
  const cseq: CSeq = draft.cseq ?? { sequence: 0, method }
  return { method, via, from, to, callId: draft.callId ?? 'unreadable@invalid', cseq }
}
