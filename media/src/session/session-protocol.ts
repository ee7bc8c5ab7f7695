import type { Ms, Samples } from '@parley/kernel'
import type {
  MediaEvent,
  MediaParameters,
  MediaSessionOptions,
  MediaStatistics,
  VoiceDetection,
} from './media-session.ts'

/** Events of a core: media events, with playout as ring positions that the call's owner translates. */
export type CoreEvent =
  | Exclude<MediaEvent, { type: 'play-progress' } | { type: 'failed' }>
  | {
      readonly type: 'play-progress'
      readonly taken: Samples
      readonly atSample: Samples
      readonly idle: boolean
    }

/** The agreed parameters of offer and answer, with options of the session. */
export interface AppliedParameters
  extends MediaParameters,
    Pick<MediaSessionOptions, 'inBandDigits' | 'silentRemoteAfterMs' | 'holdMs'> {}

/** Commands from the call's owner to its core, in order. Playout and flush use the shared rings instead. */
export type SessionCommand =
  | { readonly type: 'apply'; readonly parameters: AppliedParameters }
  | { readonly type: 'digits'; readonly digits: string; readonly options: DigitOptions }
  | { readonly type: 'detect-voice'; readonly options: VoiceDetection }
  /** `loop` in shared memory; null: no background. */
  | { readonly type: 'background'; readonly loop: Int16Array | null; readonly gain: number }
  /** Rings of session `listener`, which has the format of this session; null: it listens no more. */
  | { readonly type: 'listen'; readonly listener: number; readonly memory: SharedArrayBuffer | null }
  | { readonly type: 'statistics' }
  | { readonly type: 'close' }

export interface DigitOptions {
  readonly durationMs?: Ms
  readonly gapMs?: Ms
}

/** Replies of a core to the call's owner. Statistics are answered in the order of the requests. */
export type SessionReply =
  | { readonly type: 'event'; readonly event: CoreEvent }
  | { readonly type: 'statistics'; readonly statistics: MediaStatistics }
  | { readonly type: 'closed'; readonly statistics: MediaStatistics }
  /** The core failed and was removed without sending an RTCP BYE. */
  | { readonly type: 'failed'; readonly detail: string }
