import type { AudioFormat, Ms, SampleRateHz, Samples } from '@parley/kernel'
import type { CodecName } from '../codec/codecs.ts'
import type { LowPassDesign } from '../dsp/windowed-sinc.ts'
import type { Ipv4Network } from '../packet-io/ipv4.ts'
import type { SourceRules } from './followed-sources.ts'

export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/**
 * The result of one offer/answer, from our side. Plain data: it is sent to a media thread. Applying new parameters
 * during a call keeps SSRC, sequence numbers, timestamps and, for keys that did not change, SRTP rollover counters and
 * replay windows (RFC 3711 section 3.3.1).
 */
export interface MediaParameters {
  /** The peer's RTP address; null while it has none (0.0.0.0, port 0). */
  readonly remote: { readonly address: string; readonly port: number } | null
  /**
   * Whether packets may be sent to `remote`; default true. False: they are sent only to the source that was heard.
   */
  readonly remoteReachable?: boolean
  /**
   * Networks besides `remote` from which a first packet on plain RTP is accepted, and then answered: of a peer behind a
   * NAT, whose description names its private address. Default none.
   */
  readonly learnFrom?: readonly Ipv4Network[]
  /**
   * Which sources may be sent to although `remote` and `remoteRtcp` name another place: the first rule that holds for a
   * source decides, and a source without a rule is followed. Made by `packSourceRules`. Default: all are.
   */
  readonly sourceRules?: SourceRules
  /** Whether packets are accepted from exactly `remote` alone, also the first; default false. For peers on this machine. */
  readonly exactSource?: boolean
  /** The peer's RTCP address (RFC 3605); default the port above `remote`. null: reports go nowhere else than over the RTP port. */
  readonly remoteRtcp?: { readonly address: string; readonly port: number } | null | undefined
  /** Whether RTCP goes over the RTP port (RFC 5761); default false. */
  readonly rtcpMux?: boolean
  /**
   * Our agreed direction. No RTP is sent with "recvonly" or "inactive". Nothing is heard with "sendonly" or "inactive",
   * except packets that were on their way when the direction changed.
   */
  readonly direction: MediaDirection
  readonly codec: CodecName
  readonly payloadType: number
  /** Format parameters of the codec in the peer's description (`a=fmtp`); default none. */
  readonly codecFmtp?: string | null
  /**
   * Payload type with which the peer sends `codec`; default `payloadType`. It differs when the peer's answer renumbered
   * our offer.
   */
  readonly receivePayloadType?: number
  /** Packet time that is sent; 10 to 60. Received packets may have any whole number of milliseconds up to 120. */
  readonly ptimeMs: number
  /** Payload type of telephone-event at the codec's clock rate, or null: the peer takes no RFC 4733 digits. */
  readonly dtmfPayloadType: number | null
  /** Payload type with which the peer sends telephone-event; default `dtmfPayloadType`. */
  readonly receiveDtmfPayloadType?: number | null
  /** null: plain RTP. */
  readonly srtp: SrtpParameters | null
}

export interface SrtpParameters {
  readonly send: SrtpKey
  readonly receive: SrtpKey
  /**
   * At a re-key: the peer has `send` already (it was offered, and this is the answer), so it is used at once. Default
   * false: it is used when an authentic packet arrived under the peer's new key, or after 500 ms.
   */
  readonly peerHasSendKey?: boolean
}

/** RFC 4568 section 6.2, RFC 6188 section 4, RFC 7714 section 14.1. */
export type SrtpSuite =
  | 'AES_CM_128_HMAC_SHA1_80'
  | 'AES_CM_128_HMAC_SHA1_32'
  | 'AES_256_CM_HMAC_SHA1_80'
  | 'AES_256_CM_HMAC_SHA1_32'
  | 'AEAD_AES_128_GCM'
  | 'AEAD_AES_256_GCM'

export interface SrtpKey {
  readonly suite: SrtpSuite
  /**
   * Master key and master salt as SDES carries them: 16 + 14 bytes, AES_256_CM 32 + 14, AEAD_AES_128_GCM 16 + 12,
   * AEAD_AES_256_GCM 32 + 12.
   */
  readonly keyAndSalt: Uint8Array
  /** Master key identifier in the peer's packets (RFC 3711 section 3.1); default none. Our packets have none. */
  readonly mki?: Uint8Array
}

export interface MediaSessionOptions {
  /** Name in `describe()` and logs. */
  readonly label: string
  /** Format of played and heard audio, independent of the negotiated codec; mono. Default 8 kHz. */
  readonly format?: AudioFormat
  /** Stereo mu-law WAV at the rate of `format`; left is received, right is sent audio, unless `swapChannels`. */
  readonly recording?: {
    readonly path: string
    readonly swapChannels?: boolean
    /**
     * Whether to write the recording also, or only, as segments of 10 s, `<path>.000001.wav` and on, each renamed to
     * that name when it is complete. Default: one file at `path`.
     */
    readonly segments?: RecordingSegments
  }
  /**
   * Whether tones in the audio count as digits. "auto" (default): if the peer did not agree to telephone-event. "on":
   * always; a digit that arrives both ways is reported once.
   */
  readonly inBandDigits?: InBandDigits
  /**
   * Time without packets, ms, after which 'silent-remote' is reported; default 20,000; 0: never. Not counted while the
   * peer has no reason to send. A peer that sends nothing while nobody speaks (DTX) has six times as long.
   */
  readonly silentRemoteAfterMs?: Ms
  /**
   * How late a packet may come and still be heard as long as none came later, ms; default 40. Packets in time are heard at once; sound behind a lost one waits this
   * long. Only for formats other than 8 kHz, whose sessions a native path may take over with its own limit.
   */
  readonly holdMs?: Ms
}

/** Options for detecting the far end's voice. */
export interface VoiceDetection {
  /** Silence that ends a segment of voice, ms; default 200, at least 50. */
  readonly hangoverMs?: Ms
  /** Frequency band that is analysed, for lines that carry data above the speech; default everything. */
  readonly band?: LowPassDesign
}

/** The far end's voice began or ended. */
export interface VoiceEdge {
  readonly type: 'voice-start' | 'voice-end'
  /** The true onset or end, on the session's sample clock; earlier than the moment of detection. */
  readonly atSample: Samples
}

export type InBandDigits = 'auto' | 'off' | 'on'

export type RecordingSegments = 'also' | 'only'

export interface RecordingSplit {
  readonly segments: number | null
  readonly atSample: Samples
}

/**
 * One call's audio, as seen by the thread that owns the call. Positions (`atSample`) are on the session's sample clock:
 * samples at the rate of `format` since `open`, the same for both directions, digits and playout.
 */
export interface MediaSession {
  readonly id: number
  readonly format: AudioFormat
  readonly local: { readonly address: string; readonly port: number }
  onEvent(listener: (event: MediaEvent) => void): void
  /** Before the first `apply` nothing is sent and nothing is accepted. */
  apply(parameters: MediaParameters): void

  /**
   * Queues audio (16-bit, of `format`) behind what is already queued. Silence is sent when nothing is queued.
   * Returns the position in the *playout stream* (samples queued since open) at which this audio ends;
   * `play-progress` events and `played()` count in the same stream.
   */
  play(audio: Int16Array): Samples
  /**
   * Mixes a loop (16-bit, of `format`; see `ambientLoop`) under everything that is sent from now on, also under silence; null: nothing.
   * `gain`: 0 to 2. It is no playout: `played()` and `play-progress` do not count it.
   */
  setBackground(loop: Int16Array | null, gain: number): void
  /**
   * Drops audio that was not sent yet, within one tick; a later `play` is not affected. Returns the playout position.
   */
  flush(): Samples
  /** Playout position: samples of queued audio that were really sent. */
  played(): Samples
  /** Queued audio not yet sent. */
  queued(): Samples

  /**
   * Sends digits by RFC 4733, one after the other; audio is suppressed meanwhile. Characters 0-9 * # A-D; others throw.
   */
  sendDigits(digits: string, options?: { readonly durationMs?: Ms; readonly gapMs?: Ms }): void

  /**
   * Copies received audio, in order, loss concealed, gaps of a hold silent: up to `into.length` samples that arrived
   * since the last call; returns how many. A late reader loses the oldest samples, which the statistics count.
   */
  readHeard(into: Int16Array): Samples
  /** Sample-clock position of the next sample that `readHeard` returns. */
  heardPosition(): Samples

  /**
   * Detects the far end's voice from now on, until the session is closed; a later call replaces the settings. Reported
   * by `nextVoiceEdge` and as events.
   */
  detectVoice(options: VoiceDetection): void
  /**
   * The next voice edge in audio that `readHeard` has returned; null: none. At most 16 edges wait; the oldest are
   * dropped.
   */
  nextVoiceEdge(): VoiceEdge | null

  /**
   * Ends the recording, and records what follows as another one; null: records nothing more. Resolves with the segment files of the
   * recording that ended, null where it failed or was none, and the position at which the next one begins.
   */
  splitRecording(next: NonNullable<MediaSessionOptions['recording']> | null): Promise<RecordingSplit>

  /**
   * Mixes what is received and sent from now on into what `listener` sends, 200 ms late. `listener` is a session of the same plane and format,
   * to which nothing is played. Returns a function that ends it; the close of either session does, too.
   */
  playTo(listener: MediaSession): () => void

  /** One line that describes the chain: "udp 127.0.0.1:10000 <- srtp AES_CM_128_HMAC_SHA1_80 <- PCMU/8000 …". */
  describe(): string
  statistics(): Promise<MediaStatistics>
  /** Stops media, closes the recording and releases the port. Idempotent; resolves when the file is complete. */
  close(): Promise<MediaReport>
}

export type MediaEvent =
  /** First authenticated packet of the peer. */
  | { readonly type: 'first-packet'; readonly atSample: Samples }
  | {
      readonly type: 'digit'
      readonly digit: string
      readonly atSample: Samples
      readonly durationMs: Ms
      readonly source: DigitSource
    }
  | { readonly type: 'digits-sent'; readonly digits: string }
  | { readonly type: 'voice-start'; readonly atSample: Samples }
  | { readonly type: 'voice-end'; readonly atSample: Samples }
  /** Playout reached `position`; sent at least every 200 ms during playout, and when the queue has run empty. */
  | { readonly type: 'play-progress'; readonly position: Samples; readonly atSample: Samples; readonly idle: boolean }
  /**
   * No authentic RTP or RTCP arrived for `forMs` although the peer should be sending; sent once until a packet arrives.
   */
  | { readonly type: 'silent-remote'; readonly forMs: Ms }
  | { readonly type: 'remote-back'; readonly afterMs: Ms }
  /** The media thread ended: the session is lost. */
  | { readonly type: 'failed'; readonly detail: string }

/** How a digit arrived: as a telephone-event, or as tones in the audio. */
export type DigitSource = 'rfc4733' | 'in-band'

/** What the far end's reception reports say about our packets. */
export interface FarEndReception {
  /** Negative when duplicates outweigh the loss. */
  readonly packetsLost: number
  /** Share of the packets that we sent, 0 to 1. */
  readonly loss: number
  readonly jitterMs: Ms
  /** Highest jitter of all reports. */
  readonly jitterMaxMs: Ms
}

/** What was received in one interval. */
export interface ReceptionInterval {
  readonly received: number
  /** Lost packets and those that came too late to be heard. */
  readonly lost: number
  /** Mean jitter. */
  readonly jitterMs: Ms
}

export interface MediaStatistics {
  readonly packetsSent: number
  readonly packetsReceived: number
  /** RFC 3550 A.3. */
  readonly packetsLost: number
  readonly packetsLate: number
  readonly packetsDuplicate: number
  /** Interarrival jitter at present, ms (RFC 3550 A.8). Jumps of the sender's timestamps do not count. */
  readonly jitterMs: Ms
  /** Mean and maximum of the jitter over the call. */
  readonly jitterMeanMs: Ms
  readonly jitterMaxMs: Ms
  /** Mean and maximum of the round trips that RTCP measured (RFC 3550 section 6.4.1); null: none. */
  readonly roundTrip: { readonly meanMs: Ms; readonly maxMs: Ms } | null
  /** Reception of our packets as the far end reported it last; null: it sent no report. */
  readonly farEnd: FarEndReception | null
  /** Reception of each 10 s in which packets were expected; the last 720. */
  readonly intervals: readonly ReceptionInterval[]
  readonly concealedSamples: Samples
  /**
   * How often, on plain RTP, a source that had been replaced by another of the same address sent again within 2 s and
   * took its place back.
   */
  readonly mediaConflicts: number
  /** How often RTP or RTCP began to come from another source to which nothing may be sent (`sourceRules`). */
  readonly sourcesRefused: number
  /**
   * Packets that failed authentication, were replayed, or came from a source that is not the latched one; none of them
   * changed any state.
   */
  readonly rejected: {
    readonly unauthenticated: number
    readonly replayed: number
    readonly foreign: number
    readonly malformed: number
  }
  readonly heardOverrunSamples: Samples
  readonly missedSlots: number
}

export interface MediaReport {
  readonly statistics: MediaStatistics
  /** `segments`: number of segment files; 0 without segments. */
  readonly recording: {
    readonly path: string
    readonly channels: 2
    readonly sampleRateHz: SampleRateHz
    readonly durationMs: Ms
    readonly segments?: number
  } | null
}

/** Opens sessions: on media threads in production, in-process and in virtual time for tests. */
export interface MediaPlane {
  open(options: MediaSessionOptions): Promise<MediaSession>
  describe(): string
  close(): Promise<void>
}
