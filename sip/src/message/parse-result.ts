import type { CSeq, NameAddr, SipMessage, Via } from './message.ts'

/** Result of parsing the bytes of one SIP message. Parsing never throws. */
export type ParseResult = Parsed | Refused

export interface Parsed {
  readonly ok: true
  readonly message: SipMessage
  /** Violations that were tolerated (RFC 3261 section 7, RFC 4475 section 3.1.2). */
  readonly faults: readonly Fault[]
}

/** A message that must not be processed: send a response with status `answer`, or drop it if `answer` is null. */
export interface Refused {
  readonly ok: false
  readonly fault: Fault
  /** The status a server would answer (400, 413, 416, 505, …); null: drop it without a response. */
  readonly answer: number | null
  /** The headers of that response; null exactly if `answer` is null. */
  readonly responseFields: ResponseFields | null
  /** Stream framing is lost: the connection has to be closed. */
  readonly fatal: boolean
}

export interface Fault {
  /** Stable, snake_case: "bad_uri", "missing_header", "content_length_mismatch", … */
  readonly code: string
  /** Canonical header name, "start_line", "body" or "message". */
  readonly where: string
  /** Byte offset into the message. */
  readonly offset: number
  /** One English sentence. */
  readonly detail: string
}

/**
 * The headers a response copies from its request (RFC 3261 section 8.2.6.2), as far as they could be read. An unreadable From
 * or To is replaced by `<sip:unreadable@invalid>` with the tag, an unreadable Call-ID by `unreadable@invalid`.
 */
export interface ResponseFields {
  readonly method: string
  readonly via: readonly Via[]
  readonly from: NameAddr
  readonly to: NameAddr
  readonly callId: string
  readonly cseq: CSeq
}

/** Bounds on what is accepted from the network. */
export interface MessageLimits {
  /** Start line and headers together, bytes; default 16384. */
  readonly headerBytes: number
  /** Body, bytes; default 65536. */
  readonly bodyBytes: number
  /** Header lines, before lists are split; default 128. */
  readonly headerCount: number
  /** One header line after unfolding, bytes; default 8192. */
  readonly lineBytes: number
}

export const DEFAULT_LIMITS: MessageLimits = {
  headerBytes: 16384,
  bodyBytes: 65536,
  headerCount: 128,
  lineBytes: 8192,
}
