import { type Ms, ParleyError, type Random } from '@parley/kernel'
import {
  type CodecName,
  DEFAULT_CODECS,
  formatFor,
  type MediaPlane,
  type MediaSession,
  type MediaSessionOptions,
} from '@parley/media'
import type {
  Credentials,
  DialogSnapshot,
  HeaderPairs,
  InviteAttempt,
  InviteSession,
  IpNetwork,
  NameAddr,
  NextHop,
  SessionTimerOptions,
  SipUri,
  UserAgent,
} from '@parley/sip'
import { LegError } from './errors.ts'
import type { LegSecurity } from './leg.ts'
import type { LegDestinations, MediaDestinations } from './media-destinations.ts'
import { Negotiation, warningValue } from './negotiation.ts'
import { SipCallLeg } from './sip-call-leg.ts'

/** RFC 4568 section 8.3: keys in SDP are as secret as the signalling. */
const NEEDS_TLS = 'SRTP is required here, and its keys in SDP need SIP over TLS'

/** What every leg needs: the SIP user agent and the media plane, which all calls of a process share. */
export interface LegContext {
  readonly userAgent: UserAgent
  readonly media: MediaPlane
  readonly random: Random
  /**
   * The address that a peer gets in our SDP. `peerAddress`: its signalling address; undefined while the target is a name.
   * Absent, or returning undefined: the address that the media session is bound to.
   */
  mediaAddressFor?(peerAddress: string | undefined): string | undefined
  /** Limits on where media is sent; absent: none. */
  readonly mediaDestinations?: MediaDestinations
}

export interface LegOptions {
  /** Default "srtp-required": a secure leg is never downgraded. */
  readonly security?: LegSecurity
  /** Offered and accepted codecs, in order of preference; default PCMU, PCMA. With a wideband codec the leg's audio has 16 kHz. */
  readonly codecs?: readonly CodecName[] | undefined
  readonly recording?: MediaSessionOptions['recording']
  /**
   * Networks of the trunk. Media may be sent to private addresses in them, and a peer behind a NAT is recognised by them.
   * Default none.
   */
  readonly mediaSources?: readonly IpNetwork[] | undefined
  /** See `MediaSessionOptions.silentRemoteAfterMs`; the call then ends "media-lost". */
  readonly silentRemoteAfterMs?: Ms | undefined
  /** Digits are sent by INFO even where the far end accepts telephone-event; default false. */
  readonly digitsByInfo?: boolean
  /** For `describe()` and logs; default the Call-ID or the dialled URI. */
  readonly label?: string
}

export interface DialOptions extends LegOptions {
  readonly uri: SipUri
  readonly from: NameAddr
  readonly nextHop?: NextHop
  /** Route headers of the INVITE; default none. */
  readonly route?: readonly NameAddr[]
  readonly credentials?: Credentials
  /** Networks that the trunk's requests come from; see `OutboundCall.sources`. */
  readonly sources?: readonly IpNetwork[] | undefined
  readonly headers?: HeaderPairs
  /** Session timer of the call (RFC 4028); default: the user agent's. */
  readonly sessionTimer?: SessionTimerOptions
  /** Most time between two keep-alives on the call's connection; default: the transport's own. */
  readonly keepAliveMs?: Ms
  /** CANCEL after this long without an answer; default 180 s. */
  readonly ringTimeoutMs?: number
  /**
   * Called before each INVITE (the first, one to the next target, one with credentials), which is sent when this resolves. When it rejects,
   * the leg ends "withheld"; `LegEnd.inviteSent` says whether an earlier INVITE was sent.
   */
  readonly beforeAttempt?: (attempt: InviteAttempt) => Promise<void>
  /**
   * Called once, with the dialog of the answer. The ACK is sent when this resolves or rejects, after 2 s at the latest;
   * "answered" and audio do not wait for it. Without an ACK the far end ends the call 32 s after its answer.
   */
  readonly beforeAcknowledging?: (dialog: DialogSnapshot) => Promise<void>
  /** Sends the INVITE without SDP, so that the far end makes the offer; default false. */
  readonly delayedOffer?: boolean
}

/**
 * Opens media and sends the INVITE. Throws "srtp_needs_tls", and what the media plane throws ("no_rtp_port", …): then nothing
 * was sent.
 */
export async function dialLeg(context: LegContext, options: DialOptions): Promise<SipCallLeg> {
  requireTls(options)
  const media = await openMedia(context, options, options.uri.user ?? options.uri.host)
  let invited: InviteSession | null = null
  const destinations = destinationsOf(context, options, () => invited?.flow?.remote.address)
  const peerHost = options.nextHop?.host ?? options.uri.host
  const negotiation = negotiationFor({ context, media, options, peerAddress: peerHost, destinations })
  const { uri, from, nextHop, route, credentials, sources, headers, ringTimeoutMs, sessionTimer, keepAliveMs } = options
  const { beforeAttempt, beforeAcknowledging } = options
  try {
    const session = context.userAgent.invite({
      uri,
      from,
      ...(nextHop && { nextHop }),
      ...(route && { route }),
      ...(credentials && { credentials }),
      ...(sources && { sources }),
      ...(headers && { headers }),
      ...(ringTimeoutMs && { ringTimeoutMs }),
      ...(sessionTimer && { sessionTimer }),
      ...(keepAliveMs !== undefined && { keepAliveMs }),
      ...(beforeAttempt && { beforeAttempt }),
      ...(beforeAcknowledging && { beforeAcknowledging }),
      ...(options.delayedOffer !== true && { body: negotiation.offer({}) }),
    })
    invited = session
    const leg = new SipCallLeg(session, media, negotiation, options)
    session.onEvent(event => leg.handleSession(event))
    return leg
  } catch (error) {
    await media.close()
    throw error
  }
}

/** SRTP keys in the offer are sent over TLS only, unless the trunk says otherwise on purpose. */
function requireTls({ security = 'srtp-required', uri, nextHop }: DialOptions): void {
  const transport = nextHop?.transport ?? (uri.scheme === 'sips' ? 'tls' : uri.params.get('transport'))
  if (security === 'srtp-required' && transport?.toLowerCase() !== 'tls')
    throw new LegError(
      'srtp_needs_tls',
      `a call with SRTP needs SIP over TLS, not ${transport ?? 'a transport of the DNS'}: ` +
        'dial over TLS, or allow plain RTP or SRTP without TLS on the trunk',
    )
}

/**
 * Creates the leg of an inbound INVITE. An offer that cannot be answered is refused (488, 415, 400) before any port is
 * allocated, and one over UDP or TCP where SRTP is required (488); without a free port the answer is 503. Resolves with
 * null in both cases: the INVITE is answered, and there is no leg.
 */
export async function receiveLeg(
  context: LegContext,
  session: InviteSession,
  options: LegOptions,
): Promise<SipCallLeg | null> {
  const { security = 'srtp-required', codecs } = options
  if (security === 'srtp-required' && session.flow?.transport !== 'tls') {
    session.reject(488, { headers: [['Warning', warningValue(399, NEEDS_TLS)]] })
    return null
  }
  const destinations = destinationsOf(context, options, () => session.flow?.remote.address)
  const preview = Negotiation.preview(session.invite, {
    security: sdpSecurity(security),
    codecs,
    destinations,
  })
  if (preview !== null && !preview.ok) {
    session.reject(preview.status, { headers: [['Warning', preview.warning]] })
    return null
  }
  let media: MediaSession
  try {
    // The offer determines the codec.
    media = await openMedia(context, options, session.callId, preview === null ? codecs : [preview.parameters.codec])
  } catch (error) {
    if (session.state === 'incoming') session.reject(503, { retryAfterS: 5 })
    if (error instanceof ParleyError) return null
    throw error
  }
  const peerAddress = session.flow?.remote.address
  const negotiation = negotiationFor({ context, media, options, peerAddress, destinations })
  const leg = new SipCallLeg(session, media, negotiation, options)
  // The session buffers its events until the first listener is added.
  session.onEvent(event => leg.handleSession(event))
  return leg
}

function openMedia(
  context: LegContext,
  options: LegOptions,
  label: string,
  codecs = options.codecs,
): Promise<MediaSession> {
  return context.media.open({
    label: options.label ?? label,
    format: formatFor(codecs ?? DEFAULT_CODECS),
    ...(options.recording && { recording: options.recording }),
    ...(options.silentRemoteAfterMs !== undefined && { silentRemoteAfterMs: options.silentRemoteAfterMs }),
  })
}

/** One list, by which the rules of calls without networks are remembered. */
const NO_NETWORKS: readonly IpNetwork[] = []

function destinationsOf(
  { mediaDestinations }: LegContext,
  { mediaSources = NO_NETWORKS }: LegOptions,
  signallingAddress: () => string | undefined,
): LegDestinations | undefined {
  return mediaDestinations && { ...mediaDestinations, sources: mediaSources, signallingAddress }
}

function negotiationFor({
  context,
  media,
  options,
  peerAddress,
  destinations,
}: {
  readonly context: LegContext
  readonly media: MediaSession
  readonly options: LegOptions
  readonly peerAddress: string | undefined
  readonly destinations: LegDestinations | undefined
}): Negotiation {
  return new Negotiation({
    address: context.mediaAddressFor?.(peerAddress) ?? media.local.address,
    port: media.local.port,
    security: sdpSecurity(options.security),
    codecs: options.codecs,
    random: context.random,
    destinations,
  })
}

/** Where the keys may travel makes no difference in the session description. */
function sdpSecurity(security: LegSecurity = 'srtp-required'): 'srtp-required' | 'rtp-only' {
  return security === 'rtp-only' ? 'rtp-only' : 'srtp-required'
}
