import type { Ms, Samples } from '@parley/kernel'
import type {
  MediaEvent,
  MediaParameters,
  MediaSessionOptions,
  MediaStatistics,
  VoiceDetection,
} from './media-session.ts'

/** What a core reports: media events, with playout as ring positions that the call's owner translates. */
export type CoreEvent =
  | Exclude<MediaEvent, { type: 'play-progress' } | { type: 'failed' }>
  | {
      readonly type: 'play-progress'
      readonly taken: Samples
      readonly atSample: Samples
      readonly idle: boolean
    }

/** What offer and answer agreed on, with what the session was opened for. */
export interface AppliedParameters
  extends MediaParameters,
    Pick<MediaSessionOptions, 'inBandDigits' | 'silentRemoteAfterMs'> {}

/** From the call's owner to its core, in order. Playout and flush go through the shared rings instead. */
export type SessionCommand =
  | { readonly type: 'apply'; readonly parameters: AppliedParameters }
  | { readonly type: 'digits'; readonly digits: string; readonly options: DigitOptions }
  | { readonly type: 'detect-voice'; readonly options: VoiceDetection }
  | { readonly type: 'statistics' }
  | { readonly type: 'close' }

export interface DigitOptions {
  readonly durationMs?: Ms
  readonly gapMs?: Ms
}

/** From a core to the call's owner. Statistics are answered in the order of the requests. */
export type SessionReply =
  | { readonly type: 'event'; readonly event: CoreEvent }
  | { readonly type: 'statistics'; readonly statistics: MediaStatistics }
  | { readonly type: 'closed'; readonly statistics: MediaStatistics }
  /** The core failed and was removed without sending an RTCP BYE. */
  | { readonly type: 'failed'; readonly detail: string }
