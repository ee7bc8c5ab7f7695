import type { HeaderList } from './header-list.ts'
import type { CSeq, NameAddr, SipRequest, SipResponse, Uri, Via } from './message.ts'
import type { ResponseSeed } from './parse-result.ts'

export interface ResponseOptions {
  /** Default: the phrase of RFC 3261 section 21 for the status. */
  readonly reason?: string
  /** Added to To when the request had no tag there (never to a 100). */
  readonly toTag?: string
  readonly contact?: readonly NameAddr[]
  /** Copy Record-Route: for responses that make a dialog (RFC 3261 section 12.1.1). Default false. */
  readonly copyRecordRoute?: boolean
  readonly headers?: HeaderList
  readonly body?: Uint8Array
  /** Content-Type of `body`; needed with a body. */
  readonly contentType?: string
}

/** A response after RFC 3261 section 8.2.6: Via, From, To, Call-ID and CSeq of the request; Timestamp too in a 100. */
export function createResponse(
  _request: SipRequest | ResponseSeed,
  _status: number,
  _options: ResponseOptions = {},
): SipResponse {
  throw new Error('being written')
}

export interface RequestOptions {
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

/** A request after RFC 3261 section 8.1.1, with the defaults of a user agent. */
export function createRequest(_options: RequestOptions): SipRequest {
  throw new Error('being written')
}
