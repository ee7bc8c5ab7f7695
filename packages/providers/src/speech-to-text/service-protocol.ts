import type { Ms, Samples } from '@parley/kernel'
import type { SpeechStreamOptions } from './speech-to-text.ts'

/** A word as a service reports it. Times are samples since its stream began; null when the service sends none. */
export interface ServiceWord {
  readonly text: string
  readonly start: Samples | null
  readonly end: Samples | null
  /** 0 to 1. */
  readonly confidence?: number
}

/** An event in a message of a service. Times are samples since the stream to the service began. */
export type ServiceEvent =
  /** Audio may be sent; only from services that greet. */
  | { readonly type: 'ready' }
  /** Speech began; `at` is null when the service sends no time. */
  | { readonly type: 'speech-started'; readonly at: Samples | null }
  /** The recognised words of one passage of speech. */
  | {
      readonly type: 'words'
      /** Later words of the same passage replace these. */
      readonly passage: number
      readonly words: readonly ServiceWord[]
      /** Audio that the passage covers; `until` is null when the service does not send it. */
      readonly from: Samples
      readonly until: Samples | null
      readonly final: boolean
      /** Whether the words are final because of a finalize request; null when the service does not say. */
      readonly forced: boolean | null
      /** The service considers the speech ended. */
      readonly stopped: boolean
    }
  | { readonly type: 'end-of-turn'; readonly confidence: number; readonly eager: boolean }
  | { readonly type: 'turn-resumed' }
  /** There was no speech before this position. */
  | { readonly type: 'silence'; readonly until: Samples }
  /** The service failed or refused the stream; the connection is closed. */
  | { readonly type: 'failed'; readonly kind: 'refused' | 'busy' | 'failed'; readonly reason: string }

/** The protocol of one recogniser service. */
export interface ServiceProtocol {
  /** Name in error texts, such as "Deepgram". */
  readonly name: string
  /** Least length of an audio message, mu-law. */
  readonly chunk: Samples
  /** The service refuses shorter messages, so the last one is padded with silence. */
  readonly chunkIsRule: boolean
  /** The longest message. */
  readonly mostChunk: Samples
  /** The service reports when it is ready; others are ready when the connection is open. */
  readonly greets: boolean
  /** After this time without audio, `say` is sent as a keep-alive; when it is null, silence of the same length. */
  readonly idle: { readonly afterMs: Ms; readonly say: string | null }
  /** A connection without any message after this much audio has failed; null when the service may be silent during silence. */
  readonly muteAfterMs: Ms | null
  /**
   * A connection without a message after this much audio while words are open has stalled; with `byVoice`, also while
   * only speech was reported.
   */
  readonly stall: { readonly afterMs: Ms; readonly byVoice: boolean }
  readonly finalize: string
  readonly goodbye: string
  /** Reads the messages of one connection. */
  reader(): (message: string) => readonly ServiceEvent[]
}

/** One model of a recognition service: where it is, how a stream is requested, and its protocol. Data only; `ServiceRecogniser` connects. */
export interface RecogniserService {
  /** `vendor/model`. */
  readonly id: string
  /** BCP 47 primary tags. */
  readonly languages: readonly string[]
  readonly protocol: ServiceProtocol
  /** Such as "wss://api.deepgram.com". */
  readonly baseUrl: string
  /** Path and query of the connection for one stream. */
  readonly path: (options: SpeechStreamOptions) => string
  /** Value of the Authorization header. */
  readonly authorization: (apiKey: string) => string
  /** Meaning of a close code, for services that define codes of their own. */
  readonly failure?: (code: number | null, reason: string) => 'refused' | 'busy' | 'failed'
}
