import { SipMessageError } from '../errors.ts'
import { HeaderList } from './header-list.ts'
import { type CSeq, type NameAddr, type SipRequest, type SipResponse, tagOf, type Uri, type Via } from './message.ts'
import type { ResponseFields } from './parse-result.ts'
import { reasonPhrase } from './reason-phrases.ts'

const NO_BODY = new Uint8Array(0)

export interface ResponseOptions {
  /** Default: the phrase of RFC 3261 section 21 for the status. */
  readonly reason?: string
  /** Added to To when the request had no tag there (never to a 100). */
  readonly toTag?: string
  readonly contact?: readonly NameAddr[]
  /** Whether to copy Record-Route, as responses that create a dialog must (RFC 3261 section 12.1.1). Default false. */
  readonly copyRecordRoute?: boolean
  readonly headers?: HeaderList
  readonly body?: Uint8Array
  /** Content-Type of `body`; needed with a body. */
  readonly contentType?: string
}

/**
 * Builds a response (RFC 3261 section 8.2.6): Via, From, To, Call-ID and CSeq of the request; Timestamp too in a 100.
 * Throws SipMessageError "bad_field" for a body without a contentType.
 */
export function createResponse(
  request: SipRequest | ResponseFields,
  status: number,
  options: ResponseOptions = {},
): SipResponse {
  const { via, from, to, callId, cseq } = request
  const whole = 'kind' in request ? request : undefined
  let headers = withContentType(options.headers ?? HeaderList.empty, options)
  const timestamp = whole?.headers.get('Timestamp')
  if (status === 100 && timestamp !== undefined) headers = headers.with('Timestamp', timestamp)
  return {
    kind: 'response',
    status,
    reason: options.reason ?? reasonPhrase(status),
    via,
    from,
    to: status === 100 ? to : withTag(to, options.toTag),
    callId,
    cseq,
    route: [],
    recordRoute: options.copyRecordRoute === true && whole !== undefined ? whole.recordRoute : [],
    contact: options.contact ?? [],
    headers,
    body: options.body ?? NO_BODY,
  }
}

function withTag(to: NameAddr, tag: string | undefined): NameAddr {
  if (tag === undefined || tagOf(to) !== undefined) return to
  return { ...to, params: new Map([...to.params, ['tag', tag]]) }
}

function withContentType(
  headers: HeaderList,
  { body, contentType }: { readonly body?: Uint8Array; readonly contentType?: string },
): HeaderList {
  if (body === undefined || body.length === 0) return headers
  if (contentType !== undefined) return headers.without('Content-Type').with('Content-Type', contentType)
  if (headers.has('Content-Type')) return headers
  throw new SipMessageError('bad_field', 'A body needs a contentType')
}

interface RequestOptions {
  readonly method: string
  readonly uri: Uri
  readonly via: readonly Via[]
  readonly from: NameAddr
  readonly to: NameAddr
  readonly callId: string
  readonly cseq: CSeq
  /** Default 70. */
  readonly maxForwards?: number
  readonly route?: readonly NameAddr[]
  readonly contact?: readonly NameAddr[]
  readonly headers?: HeaderList
  readonly body?: Uint8Array
  /** Content-Type of `body`; needed with a body. */
  readonly contentType?: string
}

/** Builds a request (RFC 3261 section 8.1.1). Throws SipMessageError "bad_field" for a body without a contentType. */
export function createRequest(options: RequestOptions): SipRequest {
  return {
    kind: 'request',
    method: options.method,
    uri: options.uri,
    maxForwards: options.maxForwards ?? 70,
    via: options.via,
    from: options.from,
    to: options.to,
    callId: options.callId,
    cseq: options.cseq,
    route: options.route ?? [],
    recordRoute: [],
    contact: options.contact ?? [],
    headers: withContentType(options.headers ?? HeaderList.empty, options),
    body: options.body ?? NO_BODY,
  }
}
