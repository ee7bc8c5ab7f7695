import type { Ms, Samples } from '@parley/kernel'
import type { DigitSource, MediaParameters, MediaReport } from '@parley/media'

export type LegDirection = 'inbound' | 'outbound'

/**
 * Where a leg stands. `offered` (inbound) and `dialing` (outbound) lead over `ringing` to `active`; every state leads
 * to `ended`. Hold is not a state but a fact about an active leg.
 */
export type LegState = 'offered' | 'dialing' | 'ringing' | 'active' | 'ending' | 'ended'

export type LegEvent =
  /** Outbound: the far end rings; with `earlyMedia` its audio is already heard. */
  | { readonly type: 'ringing'; readonly status: number; readonly earlyMedia: boolean }
  /** Audio is agreed both ways and the dialog is confirmed: speak now. */
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
  | { readonly type: 'speech-start'; readonly atSample: Samples }
  | { readonly type: 'speech-end'; readonly atSample: Samples }
  | { readonly type: 'play-progress'; readonly position: Samples; readonly atSample: Samples; readonly idle: boolean }
  /** The far end put us on hold, or took us off it. */
  | { readonly type: 'held' }
  | { readonly type: 'resumed' }
  /** Our own hold, resume or re-key took effect, or the far end refused it and everything stays as it was. */
  | { readonly type: 'reoffered'; readonly purpose: ReofferPurpose }
  | { readonly type: 'reoffer-refused'; readonly purpose: ReofferPurpose; readonly status: number }
  /** What came of `transfer`: taken, and the leg hangs up by itself; or not, and the call goes on. */
  | { readonly type: 'transfer-result'; readonly taken: boolean; readonly receipt: TransferReceipt }
  /** Last event, exactly once; media is closed and the recording complete. */
  | { readonly type: 'ended'; readonly end: LegEnd }

export type ReofferPurpose = 'hold' | 'resume' | 'rekey' | 'refresh'

/** The evidence of a blind transfer (RFC 3515), kept with the run's effect. */
export interface TransferReceipt {
  /** Final status of our REFER; null when the call ended first. */
  readonly referStatus: number | null
  /** The last final status that the far end reported of its call to the target; null: it reported none. */
  readonly finalSipStatus: number | null
  /** Why the reports ended ("noresource", …); null: nothing said. */
  readonly disconnectReason: string | null
}

/** How a leg ended. */
export interface LegEnd {
  readonly direction: LegDirection
  /** Audio was agreed both ways before the end. */
  readonly answered: boolean
  readonly by: 'local' | 'remote'
  readonly cause:
    | 'bye'
    | 'cancelled'
    | 'rejected'
    | 'timeout'
    | 'transport'
    | 'protocol'
    /** `beforeAttempt` rejected: no INVITE left, or no further one. */
    | 'withheld'
    | 'media-refused'
    | 'media-lost'
    | 'recording-unavailable'
    | 'internal'
  /** Final status of the INVITE, or what stands for it where none came (408, 487, 503); null: withheld before the first left. */
  readonly sipStatus: number | null
  readonly reason: string
  /** Outbound: an INVITE left this process, or may have. False: nobody was called. Inbound: false. */
  readonly inviteLeft: boolean
  /** The far end confirmed the end (invariant 4: only then, or after the wait, a permit is given back). */
  readonly confirmed: boolean
  readonly detail: string
  readonly retryAfterS: number | undefined
  readonly media: MediaReport | null
}

/** What a leg may use for its media, agreed with whoever runs the trunk. */
export type LegSecurity = 'srtp-required' | 'rtp-only'

/** Signalling and media as they really are, for receipts and the demo. */
export interface LegTransport {
  readonly signalling: 'udp' | 'tcp' | 'tls'
  readonly media: 'srtp' | 'rtp'
}

export function mediaSecurity(parameters: MediaParameters): LegTransport['media'] {
  return parameters.srtp === null ? 'rtp' : 'srtp'
}
