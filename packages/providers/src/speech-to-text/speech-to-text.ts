import type { AudioFormat, Ms, ParleyError, Samples } from '@parley/kernel'

/** The speech-to-text port. One recogniser serves many calls at once; each call opens a stream of its own. */
export interface SpeechToText {
  /** "deepgram/nova-3", "simulated/tones-1", … */
  readonly id: string
  /** BCP 47 primary tags that it understands: ["en", "es"]. */
  readonly languages: readonly string[]
  /** Formats of audio that it takes, mono; default 8 kHz alone. */
  readonly formats?: readonly AudioFormat[]
  /** Why it cannot listen here ("no key"), or null when it can. */
  readiness(): Promise<string | null>
  /**
   * Listens from now on. Never waits: what is written while a connection is being made is kept, and its failure is an
   * event. Throws `ParleyError` "language_not_supported" or "recogniser_closed".
   */
  open(options: SpeechStreamOptions): SpeechStream
  /** Closes its streams as well. Idempotent. */
  close(): Promise<void>
}

export interface SpeechStreamOptions {
  /** BCP 47; must be one of `languages` by its primary tag. */
  readonly language: string
  /** Words to expect; a recogniser that cannot use them ignores them. */
  readonly keywords?: readonly string[]
  /** One of the recogniser's `formats`; default 8 kHz. The sample clock of the stream counts at its rate. */
  readonly format?: AudioFormat
  /** Silence after which what was heard becomes final, where the service lets one choose; ms, default the service's. */
  readonly endpointingMs?: Ms
  /**
   * Told of each stretch of audio that the service was sent, as it is sent: silence for gaps, and what is sent again to
   * a new connection, with it. That is what it bills. The last may come while the stream closes.
   */
  readonly onSent?: (audioMs: Ms) => void
}

export interface SpeechStream {
  /**
   * Audio of the call, mono 16-bit; `samples` is read before the call returns. `atSample` is the place of its first
   * sample on the call's sample clock: a jump ahead is a gap, which counts as silence; what lies before the end of the
   * last write is dropped. All times in events are on this clock.
   */
  write(samples: Int16Array, atSample: Samples): void
  /** Asks for everything written so far. Answered by one "final" with `fromFinalize`, its text empty when there was nothing. */
  finalize(): void
  /** One listener; a later one replaces it. */
  onEvent(listener: (event: SpeechEvent) => void): void
  /** No event comes after this. Idempotent. */
  close(): void
}

export interface HeardWord {
  /** As it would be written, with its punctuation where the service gives it. */
  readonly text: string
  readonly startSample: Samples
  readonly endSample: Samples
  /** 0 to 1. */
  readonly confidence?: number
}

export type SpeechEvent =
  /** A voice began, whether or not words follow. */
  | { readonly type: 'speech-started'; readonly atSample: Samples }
  /** All that was understood since the last "final"; each replaces the one before and may take words back. */
  | { readonly type: 'partial'; readonly text: string; readonly words: readonly HeardWord[] }
  /** Will not be revised. May come late: its words can end well before the audio written last. */
  | {
      readonly type: 'final'
      readonly text: string
      readonly words: readonly HeardWord[]
      /** The answer to `finalize`. */
      readonly fromFinalize: boolean
    }
  /**
   * The service's own judgement that the speaker is done; only from services that make one. `eager`: an early guess,
   * which "turn-resumed" may take back and a later "end-of-turn" confirms.
   */
  | {
      readonly type: 'end-of-turn'
      readonly atSample: Samples
      /** 0 to 1. */
      readonly confidence: number
      readonly eager: boolean
    }
  | { readonly type: 'turn-resumed'; readonly atSample: Samples }
  /** Somebody spoke from `startSample` to `endSample` and no word of it was understood. */
  | { readonly type: 'unintelligible'; readonly startSample: Samples; readonly endSample: Samples }
  /** Codes: "recogniser_unreachable", "recogniser_busy", "recogniser_refused", "recogniser_failed". Not retryable: the stream is dead. */
  | { readonly type: 'error'; readonly error: ParleyError }
