/** How numbers are written: `e164` +4930123456; `digits` 4930123456; `national` as dialled in the trunk's country, 030123456 or 0043… */
type NumberFormatOut = 'e164' | 'digits' | 'national'

/**
 * How numbers without "+" are read. `any`: as E.164 digits and as dialled in the trunk's country; `e164`: only as E.164 digits;
 * `national`: only as dialled in the trunk's country.
 */
type NumberFormatIn = 'any' | 'e164' | 'national'

/** Values of the Privacy header (RFC 3323 section 4.2, RFC 3325 section 9.3). */
export type PrivacyValue = 'id' | 'user' | 'header' | 'session' | 'critical' | 'none'

/** Settings of a trunk that its address cannot express. A missing one: that of the profile, else the default. */
export interface TrunkDetails {
  readonly port?: number
  readonly transport?: 'udp' | 'tcp' | 'tls'
  /** `srtp-without-tls`: SRTP whose keys may travel over UDP or TCP, where anyone on the path can read them. */
  readonly media?: 'srtp' | 'srtp-without-tls' | 'rtp'
  /** Encoding names, in order of preference. */
  readonly codecs?: readonly string[]
  readonly source?: readonly string[]
  /** Digest realms that may get the trunk's credentials. */
  readonly realms?: readonly string[]
  readonly country?: string
  readonly cps?: number
  /** Calls per second that one engine takes from the trunk; default 100. */
  readonly inbound_cps?: number
  /** Name of a profile; a name that this build does not have sets nothing. */
  readonly profile?: string
  readonly identity?: string
  readonly register?: boolean
  /** Seconds without any packet after which a call ends; 0: never; default 20. */
  readonly rtp_timeout?: number
  /** P-Asserted-Identity of outbound calls: "caller" is the run's own number. Default: no header. */
  readonly asserted_identity?: string
  /** Privacy of outbound calls; with "id" From is anonymous. Default: no header. */
  readonly privacy?: readonly PrivacyValue[]
  /** Diverting number of outbound calls (RFC 5806). Default: no header. */
  readonly diversion?: string
  /** Header names of inbound INVITEs that become variables of the run, in lower case. */
  readonly headers_in?: readonly string[]
  /** Header names that outbound INVITEs take from the variables of that name in lower case. */
  readonly headers_out?: readonly string[]
  /** Default e164. */
  readonly number_format_out?: NumberFormatOut
  /** Default any. */
  readonly number_format_in?: NumberFormatIn
  /** Put before the called number. */
  readonly prefix_out?: string
  /** Removed from numbers of inbound calls that begin with it. */
  readonly prefix_in?: string
  /** Whether calls are transferred by REFER; default true. */
  readonly refer?: boolean
  /** Seconds between OPTIONS, 15 or more, whether or not the trunk is in use; 0: never. Default: every 30 s while it is in use. */
  readonly ping?: number
  /** Session-Expires of outbound calls, in seconds (RFC 4028); default 1800. */
  readonly session_expires?: number
  /** How our digits are sent: `events` as telephone-event where the far end accepts it, else by INFO; `info` always by INFO. Default events. */
  readonly dtmf?: 'events' | 'info'
  /** Most seconds between two keep-alives on connections that we open to the trunk, 5 to 25; default 25 to 29. */
  readonly keep_alive?: number
}

/** Settings that a profile may hold. */
export type TrunkProfile = Omit<TrunkDetails, 'profile' | 'source' | 'realms' | 'identity' | 'register' | 'ping'>
