import type { HeaderList } from './header-list.ts'

/**
 * A SIP message after parsing. The fields that every layer reads are typed and stand only here; everything else stays,
 * in order and undecoded, in `headers`. The serialiser writes the typed fields first, then `headers`, then Content-Length.
 */
export type SipMessage = SipRequest | SipResponse

export interface SipRequest extends MessageFields {
  readonly kind: 'request'
  /** Case-sensitive token (RFC 3261 section 7.1), not limited to known methods. */
  readonly method: string
  readonly uri: Uri
  /** 0..255; undefined when the header was missing (tolerated, RFC 3261 section 16.3 item 3). */
  readonly maxForwards: number | undefined
}

export interface SipResponse extends MessageFields {
  readonly kind: 'response'
  /** 100..699. */
  readonly status: number
  readonly reason: string
}

export interface MessageFields {
  /** Topmost first; at least one in a message that was received. */
  readonly via: readonly Via[]
  readonly from: NameAddr
  readonly to: NameAddr
  readonly callId: string
  readonly cseq: CSeq
  /** In the order of the message, split at commas (RFC 3261 section 7.3.1). */
  readonly route: readonly NameAddr[]
  readonly recordRoute: readonly NameAddr[]
  readonly contact: readonly NameAddr[] | '*'
  /** Every other header field, in order, names in canonical long form ("Content-Type", "X-Custom"). */
  readonly headers: HeaderList
  readonly body: Uint8Array
}

/** `name;param` and `name;param=value`: names lower-cased, a value null when there was no "=", quoted strings unquoted. */
export type Params = ReadonlyMap<string, string | null>

/** A SIP or SIPS URI (RFC 3261 section 19.1), or any other scheme kept as it was (`tel:`, `urn:`). */
export type Uri = SipUri | OpaqueUri

export interface SipUri {
  readonly scheme: 'sip' | 'sips'
  /** Percent-decoded; undefined when there is no user part. */
  readonly user: string | undefined
  /**
   * The user part with its escapes as received, only where the serialiser would choose others. Written again while it
   * still decodes to `user`, else ignored, so that code which changes `user` need not update it.
   */
  readonly userAsWritten?: string
  /** Percent-decoded. */
  readonly password: string | undefined
  /** Lower-cased name or IPv4 address, or an IPv6 reference with its brackets. */
  readonly host: string
  readonly port: number | undefined
  readonly params: Params
  /** The `?name=value&…` part, percent-decoded. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export interface OpaqueUri {
  /** Lower-cased; never "sip" or "sips". */
  readonly scheme: string
  /** Everything behind the first colon, as it was. */
  readonly opaque: string
}

/** `"Display" <uri>;params` (RFC 3261 section 20.10). */
export interface NameAddr {
  /** Unquoted and unescaped; undefined when absent. */
  readonly displayName: string | undefined
  readonly uri: Uri
  readonly params: Params
}

/** One Via value (RFC 3261 section 20.42, RFC 3581). */
export interface Via {
  /** Upper-cased: "UDP", "TCP", "TLS", … */
  readonly transport: string
  readonly host: string
  readonly port: number | undefined
  /** `branch`, `received`, `rport`, `maddr`, `ttl` and extensions. */
  readonly params: Params
}

export interface CSeq {
  /** 0..2^31-1 (RFC 3261 section 8.1.1.5). */
  readonly sequence: number
  readonly method: string
}

/** The `tag` parameter of a From or To. */
export function tagOf(address: NameAddr): string | undefined {
  return address.params.get('tag') ?? undefined
}

export function isSipUri(uri: Uri): uri is SipUri {
  return uri.scheme === 'sip' || uri.scheme === 'sips'
}
