import type { AudioFormat, Ms, Samples } from '@parley/kernel'
import type {
  DigitSource,
  MediaParameters,
  MediaReport,
  MediaSession,
  MediaSessionOptions,
  MediaStatistics,
  RecordingSplit,
  VoiceDetection,
  VoiceEdge,
} from '@parley/media'
import type { ReferOptions, Uri } from '@parley/sip'

/** What a call needs of its leg: `SipCallLeg` over SIP, `WebLeg` to a browser. */
export interface CallLeg {
  readonly direction: LegDirection
  readonly state: LegState
  /** Call-ID of a SIP leg; for others a name that is as unique. */
  readonly callId: string
  /** Whether the far end has put us on hold. */
  readonly held: boolean
  /** Null until signalling has passed and audio is agreed. */
  readonly transport: LegTransport | null
  /** Host of the far end's URI, at which other numbers of its network are reached; null: there is none, or it is hidden. */
  readonly peerHost: string | null
  /** Whether our last INVITE carried credentials. */
  readonly sentCredentials: boolean
  /** Format of played and heard audio. */
  readonly format: AudioFormat
  /**
   * Returns a function that removes the listener. Events come one at a time, none after "ended"; the first listener also
   * gets the events from before it was added.
   */
  onEvent(listener: (event: LegEvent) => void): () => void
  /** Ends the leg; "ended" follows. */
  hangUp(): void
  /** Appends audio to the playout queue; returns the position in the playout stream at which it ends. */
  play(audio: Int16Array): Samples
  /** Drops queued audio that was not sent; returns the position in the playout stream up to which it was. */
  flush(): Samples
  played(): Samples
  /** "digits-sent" follows. */
  sendDigits(digits: string, options?: { readonly durationMs?: Ms; readonly gapMs?: Ms }): void
  readHeard(into: Int16Array): Samples
  /** See `MediaSession.setBackground`. */
  setBackground(loop: Int16Array | null, gain: number): void
  /** See `MediaSession.splitRecording`. */
  splitRecording(next: NonNullable<MediaSessionOptions['recording']> | null): Promise<RecordingSplit>
  /** See `MediaSession.playTo`. */
  playTo(listener: MediaSession): () => void
  /** See `MediaSession.detectVoice`. */
  detectVoice(options: VoiceDetection): void
  /** See `MediaSession.nextVoiceEdge`. */
  nextVoiceEdge(): VoiceEdge | null
  heardPosition(): Samples
  describe(): string
  statistics(): Promise<MediaStatistics>
  /** Blind transfer; "transfer-result" follows. */
  transfer(target: Uri, options?: Pick<ReferOptions, 'headers'>): void
}

export type LegDirection = 'inbound' | 'outbound'

/**
 * `offered` (inbound) and `dialing` (outbound) lead through `ringing` to `active`; every state leads to `ended`. Hold is
 * not a state but a property of an active leg.
 */
export type LegState = 'offered' | 'dialing' | 'ringing' | 'active' | 'ending' | 'ended'

export type LegEvent =
  /** Outbound: the far end rings. `earlyMedia`: its audio is received before the answer. */
  | { readonly type: 'ringing'; readonly status: number; readonly earlyMedia: boolean }
  /** Audio is agreed both ways and the dialog is confirmed. */
  | { readonly type: 'answered' }
  | {
      readonly type: 'digit'
      readonly digit: string
      readonly atSample: Samples
      readonly durationMs: Ms
      readonly source: DigitSource | 'info'
    }
  | { readonly type: 'digits-sent'; readonly digits: string }
  | { readonly type: 'first-packet'; readonly atSample: Samples }
  | { readonly type: 'voice-start'; readonly atSample: Samples }
  | { readonly type: 'voice-end'; readonly atSample: Samples }
  | { readonly type: 'play-progress'; readonly position: Samples; readonly atSample: Samples; readonly idle: boolean }
  /** The far end put us on hold or resumed the call. */
  | { readonly type: 'held' }
  | { readonly type: 'resumed' }
  /** Our hold, resume or re-key took effect, or the far end refused it and nothing changed. */
  | { readonly type: 'reoffered'; readonly purpose: ReofferPurpose }
  | { readonly type: 'reoffer-refused'; readonly purpose: ReofferPurpose; readonly status: number }
  /** Result of `transfer`. `taken`: the leg hangs up by itself; otherwise the call goes on. */
  | { readonly type: 'transfer-result'; readonly taken: boolean; readonly receipt: TransferReceipt }
  /** The far end asked us to transfer the call to `target`, a URI (null: unreadable); we refused with this status. */
  | { readonly type: 'refer-refused'; readonly status: number; readonly target: string | null }
  /** Outbound: the far end answered 3xx and named other URIs to call, which are not called; "ended" follows. */
  | { readonly type: 'redirected'; readonly status: number; readonly targets: readonly string[] }
  /** Last event, exactly once; the media session is closed and the recording complete. */
  | { readonly type: 'ended'; readonly end: LegEnd }

export type ReofferPurpose = 'hold' | 'resume' | 'rekey' | 'refresh'

/** The evidence of a blind transfer (RFC 3515), stored with the run's effect. */
interface TransferReceipt {
  /** Final status of our REFER; null when the call ended first. */
  readonly referStatus: number | null
  /** Last final status that the far end reported for its call to the target; null: none. */
  readonly finalSipStatus: number | null
  /** Reason in the final Subscription-State ("noresource", …); null: none given. */
  readonly disconnectReason: string | null
}

/** How a leg ended. */
export interface LegEnd {
  readonly direction: LegDirection
  /** Whether audio was agreed both ways before the end. */
  readonly answered: boolean
  readonly by: 'local' | 'remote'
  readonly cause:
    | 'bye'
    | 'cancelled'
    | 'rejected'
    | 'timeout'
    | 'transport'
    | 'protocol'
    /** `beforeAttempt` rejected: no INVITE was sent, or no further one. */
    | 'withheld'
    | 'media-refused'
    | 'media-lost'
    /** The visitor of a room never came. */
    | 'not-joined'
    | 'recording-unavailable'
    | 'internal'
  /** Final status of the INVITE, or a substitute if none was received (408, 487, 503); null: withheld before the first was sent. */
  readonly sipStatus: number | null
  readonly reason: string
  /** Outbound: an INVITE was sent, or may have been; false means that the called phone never rang. Inbound: false. */
  readonly inviteSent: boolean
  /**
   * Whether the far end confirmed the end: 2xx or 481 to our BYE, or its own BYE or CANCEL. Without it "ended" comes when the
   * time for a confirmation has passed (RFC 3261 section 15.1.1: 32 s), and the call may go on at the far end.
   */
  readonly confirmed: boolean
  /** Last final status of our BYE; absent without a BYE of ours or without a response to it. */
  readonly byeStatus?: number | undefined
  readonly detail: string
  readonly retryAfterS: number | undefined
  readonly media: MediaReport | null
}

/**
 * Media transport that a leg may use, as configured for the trunk. `srtp-required`: SRTP, whose keys travel in SDP over TLS only (RFC
 * 4568 section 8.3); `srtp-without-tls`: SRTP, and its keys also over UDP and TCP, where anyone on the path can read them.
 */
export type LegSecurity = 'srtp-required' | 'srtp-without-tls' | 'rtp-only'

/** Signalling and media transport in use. */
export interface LegTransport {
  readonly signalling: 'udp' | 'tcp' | 'tls' | 'https'
  readonly media: 'srtp' | 'rtp' | 'dtls-srtp'
}

export function mediaSecurity(parameters: MediaParameters): LegTransport['media'] {
  return parameters.srtp === null ? 'rtp' : 'srtp'
}
