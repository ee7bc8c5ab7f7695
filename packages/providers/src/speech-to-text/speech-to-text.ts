import type { AudioFormat, Ms, Samples } from '@parley/kernel'
import type { ProviderFailure } from '../errors.ts'

/** The speech-to-text port. One recogniser serves many calls at once; each call opens a stream of its own. */
export interface SpeechToText {
  /** "deepgram/nova-3", "simulated/tones-1", … */
  readonly id: string
  /** BCP 47 primary tags of the supported languages: ["en", "es"]. */
  readonly languages: readonly string[]
  /** Accepted audio formats, mono; default 8 kHz only. */
  readonly formats?: readonly AudioFormat[]
  /** Audio without speech costs as much as speech; default true. Ringing before the answer is transcribed only where it does not. */
  readonly billsSilence?: boolean
  /** Why the recogniser cannot be used ("no key"); null: it is ready. */
  readiness(): Promise<string | null>
  /** Prepares the first stream of the process, without opening one; never fails. Absent where nothing helps. */
  warm?(): Promise<void>
  /**
   * Opens a stream and returns at once. Audio written while the connection is being made is buffered; a connection that
   * fails is reported as an event. Throws `ProviderError` "language_not_supported",
   * "format_not_supported" or "recogniser_closed".
   */
  open(options: SpeechStreamOptions): SpeechStream
  /** Closes its streams as well. Idempotent. */
  close(): Promise<void>
}

export interface SpeechStreamOptions {
  /** BCP 47; must be one of `languages` by its primary tag. */
  readonly language: string
  /** Other languages that the speaker may use, as primary tags; a recogniser that detects languages listens for them as well. Default none. */
  readonly otherLanguages?: readonly string[]
  /** Words to expect; a recogniser that cannot use them ignores them. */
  readonly keywords?: readonly string[]
  /** `accurate`: words become final later, with more context, and turns end later. Default `fast`; a recogniser without such a choice ignores it. */
  readonly mode?: 'fast' | 'accurate'
  /** Default `general`; a recogniser without such a vocabulary ignores it. */
  readonly vocabulary?: 'general' | 'medical'
  /** One of the recogniser's `formats`; default 8 kHz. The sample clock of the stream counts at its rate. */
  readonly format?: AudioFormat
  /** Silence after which words become final, for services that let the client choose; ms, default the service's. */
  readonly endpointingMs?: Ms
  /** The stream is told where voice begins and ends (`voice`), so that a recogniser in this process does not look for it again, and one at a service gets silence in fewer messages. Default false. */
  readonly tellsVoice?: boolean
  /**
   * Called with the duration of all audio sent to the service, which bills it: gaps filled with silence and audio sent
   * again to a new connection included. The last call may come while the stream closes.
   */
  readonly onSent?: (audioMs: Ms) => void
}

export interface SpeechStream {
  /**
   * Audio of the call, mono 16-bit; `samples` is read before the call returns. `atSample` is the position of its first
   * sample on the call's sample clock: a jump ahead is a gap, which counts as silence; audio before the end of the last
   * write is dropped. All times in events are on this clock.
   */
  write(samples: Int16Array, atSample: Samples): void
  /** With `tellsVoice`: voice began or ended at this position, as was found in audio that is written next. Absent where it is of no use. */
  voice?(type: 'voice-start' | 'voice-end', atSample: Samples): void
  /** Requests a final result for all audio written so far: one "final" with `fromFinalize`, its text empty when there are no words. */
  finalize(): void
  /** One listener; a later one replaces it. */
  onEvent(listener: (event: SpeechEvent) => void): void
  /** No event comes after this. Idempotent. */
  close(): void
}

export interface HeardWord {
  /** The word as written, with punctuation where the service provides it. */
  readonly text: string
  readonly startSample: Samples
  readonly endSample: Samples
  /** 0 to 1. */
  readonly confidence?: number
}

export type SpeechEvent =
  /** Speech began, whether or not words follow. Repeated while it lasts by services without partial results. */
  | { readonly type: 'speech-started'; readonly atSample: Samples }
  /** All words since the last "final". Each partial replaces the one before and may revise its words. */
  | { readonly type: 'partial'; readonly text: string; readonly words: readonly HeardWord[] }
  /** Words that will not be revised. May come late: they can end well before the audio written last. */
  | {
      readonly type: 'final'
      readonly text: string
      readonly words: readonly HeardWord[]
      /** The answer to `finalize`. */
      readonly fromFinalize: boolean
      /** Primary tag of the language that the service detected in these words; absent where it detects none. */
      readonly language?: string
    }
  /**
   * The service detected the end of the speaker's turn; only from services with turn detection. `eager`: an early guess,
   * which "turn-resumed" may revoke and a later "end-of-turn" confirms.
   */
  | {
      readonly type: 'end-of-turn'
      readonly atSample: Samples
      /** 0 to 1. */
      readonly confidence: number
      readonly eager: boolean
    }
  | { readonly type: 'turn-resumed'; readonly atSample: Samples }
  /** Somebody spoke from `startSample` to `endSample`, and no word was recognised. */
  | { readonly type: 'unintelligible'; readonly startSample: Samples; readonly endSample: Samples }
  /** Codes: "recogniser_unreachable", "recogniser_busy", "recogniser_refused", "recogniser_failed". Not retryable: the stream is dead. */
  | { readonly type: 'error'; readonly error: ProviderFailure }
